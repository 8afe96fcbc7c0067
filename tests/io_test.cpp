#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>

#include "io_files.hpp"

namespace lasolve::io {
namespace {

namespace fs = std::filesystem;

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
  for (const char* name : {"A.txt", "A", "A.gz", "A.mtx.bz2", "mtx"})
    EXPECT_THROW(write_matrix(in_folder(name), A), std::invalid_argument);
  EXPECT_TRUE(names().empty());
}

TEST_F(WriteMatrix, SaysWhyItFailedAndLeavesNothing) {
  const auto error = [](const std::string& path) -> std::string {
    try {
      write_matrix(path, random_matrix(300, 300));
      return "";
    } catch (const OutputError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error("/no/such/A.mtx"), "cannot write /no/such/A.mtx: No such file or directory");
  fs::create_directory(in_folder("d.mtx"));
  EXPECT_EQ(error(in_folder("d.mtx")), "cannot write " + in_folder("d.mtx") + ": it is not a regular file");
  fs::remove(in_folder("d.mtx"));

  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  for (const char* name : {"A.mtx", "A.npy", "A.mtx.gz"})
    EXPECT_EQ(error(in_folder(name)), "cannot write " + in_folder(name) + ": File too large");
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

TEST_F(WriteMatrix, CanBeInterrupted) {
  OutputFile first(in_folder("A.mtx"), false), second(in_folder("A.mtx"), true);
  EXPECT_EQ(names().size(), 2);
  remove_pending_temporaries();
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace lasolve::io
