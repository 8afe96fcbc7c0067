#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>
#include <thread>

#include "io_files.hpp"

namespace lasolve::io {
namespace {

namespace fs = std::filesystem;

TEST(ReadMatrix, SaysThatAFileHasNoArrays) {
  file_with("1 2\n3 4\n", "text.npz");
  try {
    read_matrix(test_folder() + "text.npz:A");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_TRUE(
        std::string(e.what()).ends_with("text.npz: error: expected a .npz file with an array \"A\", found none"))
        << e.what();
  }
}

/// Its first member is no file, with and without a size behind which there may be one.
TEST(ReadMatrix, SaysThatATarArchiveHasNoFile) {
  std::string tar(1024, '\0');
  tar.replace(0, 6, "folder"), tar.replace(124, 2, "zz"), tar[156] = '5', tar.replace(257, 5, "ustar");
  const std::string refused = "test.mtx: error: expected a matrix, found a tar archive without a file";
  EXPECT_EQ(error_of(tar), refused);
  tar.replace(124, 11, "00000000000");
  EXPECT_EQ(error_of(tar), refused);
}

/// Messages begin and end where characters do.
TEST(ReadMatrix, QuotesWholeCharacters) {
  std::string word;
  for (int k = 0; k < 100; ++k) word += "é";
  for (const std::string before : {"", "a"})
    for (const std::string& line : {before + word + " 1", "1 " + before + word}) {
      const std::string error = error_of("1 2\n" + line + "\n", {}, "test.txt");
      EXPECT_NE(error.find("é"), std::string::npos) << error;
      EXPECT_EQ(error.find("\\x"), std::string::npos) << error;
    }
}

/// Digits of exponents that no file needs are counted all the same: 10·1000 + 0 is no 0.
TEST(ReadMatrix, TakesExponentsOfAnyLength) {
  const auto error = [](const std::string& number, bool in_a_table) {
    return in_a_table ? error_of(number + "\n", {}, "test.txt")
                      : error_of("%%MatrixMarket matrix array real general\n1 1\n" + number + "\n");
  };
  for (const bool in_a_table : {false, true}) {
    EXPECT_EQ(error("1e-10000", in_a_table), "");
    EXPECT_EQ(error("0e99999", in_a_table), "");
    for (const std::string& number : {std::string("1e10000"), "1e" + std::string(40, '1')})
      EXPECT_NE(error(number, in_a_table).find("in the range of a double"), std::string::npos) << number;
  }
}

/// A folder of its own for a test that looks at which files are there.
class WriteMatrix : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::string folder_ = test_folder() + "write";
};

/// A matrix of random finite bit patterns, within padding that must not be written.
Matrix<double> random_matrix(std::int64_t rows, std::int64_t cols) {
  Matrix<double> A(rows, cols, rows + 3);
  if (rows > 0) std::fill_n(A.data(), A.ld() * cols, NAN);
  std::mt19937_64 random(1);
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) do
        A(i, j) = std::bit_cast<double>(random());
      while (!std::isfinite(A(i, j)));
  return A;
}

TEST_F(WriteMatrix, IsReadBackBitForBit) {
  for (const char* suffix : {".mtx", ".npy", ".mtx.gz", ".npy.gz"})
    for (const auto& [rows, cols] : {std::pair{300, 200}, {1, 1}, {7, 1}, {1, 7}, {0, 0}, {0, 3}, {3, 0}}) {
      const Matrix<double> A = random_matrix(rows, cols);
      const std::string path = in_folder(std::string("A") + suffix);
      write_matrix(path, A, {"first", "second\nand third"});
      const MatrixFile back = read_matrix(path);
      EXPECT_EQ(back.matrix.rows(), rows);
      EXPECT_EQ(back.matrix.cols(), cols);
      EXPECT_EQ(rows_of(back.matrix), rows_of(A)) << suffix << " " << rows << " x " << cols;
      EXPECT_EQ(content_of(path).starts_with("\x1F\x8B"), path.ends_with(".gz"));
    }
  EXPECT_EQ(names().size(), 4) << "no temporary file stays";
}

TEST_F(WriteMatrix, WritesWhatOthersRead) {
  Matrix<double> x(2, 1);
  x(0, 0) = 0.1;
  x(1, 0) = -0.0;
  write_matrix(in_folder("x.mtx"), x, {"one", "two\nthree"});
  EXPECT_EQ(content_of(in_folder("x.mtx")),
            "%%MatrixMarket matrix array real general\n% one\n% two\n% three\n2 1\n0.1\n-0\n");
  write_matrix(in_folder("x.npy"), x);
  const std::string npy = content_of(in_folder("x.npy"));
  EXPECT_EQ(npy.size(), 128 + 16);
  EXPECT_EQ(npy[127], '\n');
  EXPECT_TRUE(npy.starts_with(std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                              "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1), }"));
}

TEST_F(WriteMatrix, RefusesAnotherSuffix) {
  const Matrix<double> A(1, 1);
  for (const char* name : {"A.dat", "A", "A.gz", "A.npz", "A.mtx.bz2", "mtx"})
    EXPECT_THROW(write_matrix(in_folder(name), A), std::invalid_argument);
  EXPECT_TRUE(names().empty());
}

std::string error_of_writing(const std::string& path) {
  try {
    write_matrix(path, random_matrix(300, 300));
    return "";
  } catch (const OutputError& e) {
    return e.what();
  }
}

TEST_F(WriteMatrix, SaysWhyItFailedAndLeavesNothing) {
  EXPECT_EQ(error_of_writing("/no/such/A.mtx"), "cannot write /no/such/A.mtx: No such file or directory");
  fs::create_directory(in_folder("d.mtx"));
  EXPECT_EQ(error_of_writing(in_folder("d.mtx")), "cannot write " + in_folder("d.mtx") + ": it is not a regular file");
  fs::remove(in_folder("d.mtx"));

  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  for (const char* name : {"A.mtx", "A.npy", "A.mtx.gz"})
    EXPECT_EQ(error_of_writing(in_folder(name)), "cannot write " + in_folder(name) + ": File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(names().empty());
}

TEST_F(WriteMatrix, KeepsTheOldFileUntilTheNewOneIsComplete) {
  const std::string path = in_folder("A.mtx");
  write_matrix(path, random_matrix(2, 2));
  const std::string old = content_of(path);
  {
    OutputFile file(path, false);
    file.append("half");
    EXPECT_EQ(names().size(), 2);
  }
  EXPECT_EQ(content_of(path), old);
  EXPECT_EQ(names().size(), 1);
}

TEST_F(WriteMatrix, WritesThroughALink) {
  fs::create_symlink(in_folder("target.mtx"), in_folder("link.mtx"));
  write_matrix(in_folder("target.mtx"), random_matrix(2, 2));
  write_matrix(in_folder("link.mtx"), random_matrix(3, 3));
  EXPECT_TRUE(fs::is_symlink(in_folder("link.mtx")));
  EXPECT_EQ(read_matrix(in_folder("target.mtx")).matrix.rows(), 3);
}

TEST_F(WriteMatrix, FollowsLinksToWhatIsNotThereYet) {
  fs::create_directory(in_folder("far"));
  fs::create_symlink("far/second", in_folder("first.mtx"));
  fs::create_symlink("../target", in_folder("far/second"));
  write_matrix(in_folder("first.mtx"), random_matrix(3, 3));
  EXPECT_TRUE(fs::is_symlink(in_folder("first.mtx")));
  EXPECT_TRUE(fs::is_symlink(in_folder("far/second")));
  EXPECT_EQ(read_matrix(in_folder("target")).matrix.rows(), 3);

  fs::create_symlink("loop.mtx", in_folder("loop.mtx"));
  EXPECT_EQ(error_of_writing(in_folder("loop.mtx")),
            "cannot write " + in_folder("loop.mtx") + ": Too many levels of symbolic links");
  fs::create_symlink("nowhere/x", in_folder("lost.mtx"));
  EXPECT_EQ(error_of_writing(in_folder("lost.mtx")),
            "cannot write " + in_folder("lost.mtx") + ": No such file or directory");
}

TEST_F(WriteMatrix, KeepsTheModeOfTheOldFile) {
  const mode_t before = umask(022);
  for (const auto mode : {0600u, 0664u, 0777u}) {
    const std::string path = in_folder("A.mtx");
    write_matrix(path, random_matrix(1, 1));
    chmod(path.c_str(), mode);
    write_matrix(path, random_matrix(2, 2));
    EXPECT_EQ(unsigned(fs::status(path).permissions()), mode);
    EXPECT_EQ(read_matrix(path).matrix.rows(), 2);
  }
  umask(before);
}

TEST_F(WriteMatrix, TakesNamesAsLongAsTheyCanBe) {
  for (const std::size_t length : {200u, 240u, 247u, 251u, 255u})
    for (const std::string suffix : {".mtx", ".npy.gz"}) {
      const std::string path = in_folder(std::string(length - suffix.size(), 'x') + suffix);
      write_matrix(path, random_matrix(2, 2));
      EXPECT_EQ(read_matrix(path).matrix.rows(), 2);
    }
  const std::string too_long = in_folder(std::string(252, 'x') + ".mtx");
  EXPECT_EQ(error_of_writing(too_long), "cannot write " + too_long + ": File name too long");
  EXPECT_EQ(names().size(), 10u);
}

TEST_F(WriteMatrix, WritesPipesDevicesAndDescriptorsAsTheyAre) {
  const Matrix<double> A = random_matrix(300, 200);
  const std::string pipe = in_folder("pipe.npy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  require_matrix_writable(pipe);  // and does not wait for a reader
  std::jthread writer([&] { write_matrix(pipe, A); });
  EXPECT_EQ(rows_of(read_matrix(pipe).matrix), rows_of(A));
  writer.join();
  EXPECT_TRUE(fs::is_fifo(pipe));

  require_matrix_writable("/dev/null");
  write_matrix("/dev/null", A);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(error_of_writing("/dev/full"), "cannot write /dev/full: No space left on device");

  const Descriptor file(open(in_folder("both").c_str(), O_RDWR | O_CREAT, 0666));
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string path = folder + std::to_string(file.number());
    ASSERT_EQ(write(file.number(), "% before\n", 9), 9);
    require_matrix_writable(path);
    write_matrix(path, random_matrix(0, 2));
  }
  const std::string written = "% before\n%%MatrixMarket matrix array real general\n0 2\n";
  EXPECT_EQ(content_of(in_folder("both")), written + written);
  const Descriptor read_only(open(in_folder("both").c_str(), O_RDONLY));
  for (const int number : {read_only.number(), 999}) {
    const std::string path = "/dev/fd/" + std::to_string(number);
    EXPECT_THROW(require_matrix_writable(path), OutputError) << path;
    EXPECT_EQ(error_of_writing(path), "cannot write " + path + ": Bad file descriptor");
  }
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(WriteMatrix, KnowsWhenTwoPathsAreOneFile) {
  fs::create_directory(in_folder("d"));
  fs::create_directory_symlink("d", in_folder("link"));
  fs::create_symlink("d/new.mtx", in_folder("dangling.mtx"));
  const auto one = [&](const std::string& a, const std::string& b) {
    return lead_to_one_file(in_folder(a), in_folder(b));
  };
  for (const bool is_there : {false, true}) {
    EXPECT_TRUE(one("d/new.mtx", "d/./new.mtx"));
    EXPECT_TRUE(one("d/new.mtx", "link/new.mtx"));
    EXPECT_TRUE(one("d/new.mtx", "link/../d//new.mtx"));
    EXPECT_TRUE(one("dangling.mtx", "d/new.mtx"));
    EXPECT_FALSE(one("d/new.mtx", "new.mtx"));
    EXPECT_FALSE(one("d/new.mtx", "d/New.mtx"));
    if (!is_there) write_matrix(in_folder("dangling.mtx"), random_matrix(1, 1));
  }
  EXPECT_FALSE(lead_to_one_file("/dev/null", "/dev/null"));
  EXPECT_FALSE(lead_to_one_file("/no/such", "/no/such"));
}

TEST_F(WriteMatrix, CanBeInterrupted) {
  OutputFile first(in_folder("A.mtx"), false), second(in_folder("A.mtx"), true);
  EXPECT_EQ(names().size(), 2);
  remove_pending_temporaries();
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace lasolve::io
