// Parts of files and generators, as ranks read and make them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "engines/solve.hpp"
#include "io/generators.hpp"
#include "io/sharing.hpp"
#include "io_files.hpp"

namespace lasolve::test::parts_test {
namespace {

BlockCyclic layout(std::int64_t rows, std::int64_t cols, std::int64_t block, int grid_rows, int grid_cols, int row,
                   int col) {
  return {{rows, block, grid_rows, row}, {cols, block, grid_cols, col}};
}

TEST(BlockCyclic, GivesEachElementToOneProcess) {
  for (const std::int64_t n : {1, 2, 7, 64, 65, 200})
    for (const std::int64_t block : {1, 3, 64}) {
      std::vector<int> owners(std::size_t(n * n), 0);
      for (int row = 0; row < 2; ++row)
        for (int col = 0; col < 3; ++col)
          layout(n, n, block, 2, 3, row, col).for_each_block([&](auto i, auto j, auto m, auto k, auto at_i, auto at_j) {
            const BlockCyclic its = layout(n, n, block, 2, 3, row, col);
            for (std::int64_t b = j; b < j + k; ++b)
              for (std::int64_t a = i; a < i + m; ++a) {
                ++owners[std::size_t(a + b * n)];
                EXPECT_TRUE(its.rows.has(a) && its.cols.has(b));
                EXPECT_EQ(its.rows.place_of(a), at_i + a - i);
                EXPECT_EQ(its.cols.index_at(at_j + b - j), b);
              }
          });
      EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), n * n) << n << " in blocks of " << block;
    }
}

TEST(BlockCyclic, CountsBeyond32Bits) {
  const BlockCyclic its = layout(500'000, 500'000, 64, 1, 2, 0, 0);
  EXPECT_EQ(its.rows.count() * its.cols.count(), std::int64_t(500'000) * 250'016);
}

TEST(Grid, IsNearlySquare) {
  for (const auto& [count, rows, cols] :
       std::vector<std::array<int, 3>>{{1, 1, 1}, {2, 1, 2}, {4, 2, 2}, {6, 2, 3}, {7, 1, 7}, {48, 6, 8}}) {
    const engines::Ranks grid = engines::nearly_square(count);
    EXPECT_EQ(grid.grid_rows, rows);
    EXPECT_EQ(grid.grid_cols, cols);
  }
}

/// Four processes in a grid of 2 x 2, as threads, which read a file together.
class Four {
 public:
  Four(std::string path, std::int64_t block, std::int64_t bytes_at_once, int threads = 1, bool allow_nonfinite = false,
       std::string path_of_last = {}) {
    const auto read = [&](int rank) {
      Fellow fellow(*this, rank, block, bytes_at_once);
      try {
        files_[std::size_t(rank)] =
            io::read_matrix(rank + 1 == count && !path_of_last.empty() ? path_of_last : path,
                            {.threads = threads, .allow_nonfinite = allow_nonfinite, .sharing = &fellow});
        fellow.meet();
        put(fellow.layout, files_[std::size_t(rank)].matrix);
      } catch (const Ended&) {
      } catch (const std::exception& e) {
        errors_[std::size_t(rank)] = e.what();
        any_failed_ = true;
        fellow.meets_failed();
      }
    };
    std::vector<std::thread> others;
    for (int rank = 1; rank < count; ++rank) others.emplace_back(read, rank);
    read(0);
    for (std::thread& other : others) other.join();
  }

  /// Their parts, put together.
  const Matrix<double>& matrix() const { return all_; }
  const std::vector<std::string>& notes() const { return files_[0].notes; }
  const io::MatrixFile& file() const { return files_[0]; }
  /// Of the first that has one, without the folder.
  std::string error() const {
    for (const std::string& error : errors_)
      if (!error.empty()) return error.substr(error.starts_with(io::test_folder()) ? io::test_folder().size() : 0);
    return "";
  }

 private:
  static constexpr int count = 4;
  struct Ended {};

  class Fellow final : public io::Sharing {
   public:
    BlockCyclic layout;

    Fellow(Four& all, int rank, std::int64_t block, std::int64_t bytes)
        : all_(all), rank_(rank), block_(block), bytes_(bytes) {}
    int rank() const override { return rank_; }
    int count() const override { return Four::count; }
    std::int64_t bytes_at_once() const override { return bytes_; }
    BlockCyclic part(std::int64_t m, std::int64_t n, const std::string&) override {
      return layout = parts_test::layout(m, n, block_, 2, 2, rank_ / 2, rank_ % 2);
    }
    void meet() override {
      if (meets_failed()) throw Ended{};
    }
    bool meets_failed() {
      all_.barrier_.arrive_and_wait();
      const bool failed = all_.any_failed_;
      all_.barrier_.arrive_and_wait();
      return failed;
    }
    void sum(std::span<double> numbers) override {
      all_.numbers_[std::size_t(rank_)].assign(numbers.begin(), numbers.end());
      all_.barrier_.arrive_and_wait();
      std::fill(numbers.begin(), numbers.end(), 0.0);
      for (const auto& its : all_.numbers_)
        for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] += its.at(k);
      all_.barrier_.arrive_and_wait();
    }
    std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) override {
      all_.sent_[std::size_t(rank_)] = std::move(for_ranks);
      all_.barrier_.arrive_and_wait();
      std::vector<Bytes> came;
      for (const auto& its : all_.sent_) came.push_back(its.at(std::size_t(rank_)));
      all_.barrier_.arrive_and_wait();
      return came;
    }

   private:
    Four& all_;
    int rank_;
    std::int64_t block_, bytes_;
  };

  void put(const BlockCyclic& its, const Matrix<double>& part) {
    const std::scoped_lock lock(mutex_);
    if (all_.rows() == 0) all_ = Matrix<double>(its.rows.length, its.cols.length);
    EXPECT_EQ(part.rows(), its.rows.count());
    its.for_each_block([&](auto i, auto j, auto m, auto n, auto at_i, auto at_j) {
      copy_on_host<double>(part.view().block(at_i, at_j, m, n), all_.view().block(i, j, m, n));
    });
  }

  std::barrier<> barrier_{count};
  std::atomic<bool> any_failed_ = false;
  std::array<io::MatrixFile, count> files_;
  std::array<std::string, count> errors_;
  std::array<std::vector<double>, count> numbers_;
  std::array<std::vector<io::Sharing::Bytes>, count> sent_;
  std::mutex mutex_;
  Matrix<double> all_;
};

void expect_parts_of(const std::string& path) {
  const auto whole = io::rows_of(io::read_matrix(path).matrix);
  for (const std::int64_t block : {1, 2, 64})
    for (const std::int64_t bytes : {1, 7, 500, 1 << 20}) {
      if (std::int64_t(std::filesystem::file_size(path)) > 1000 * bytes) continue;  // that takes long
      const Four four(path, block, bytes, block == 2 ? 3 : 1);
      EXPECT_EQ(four.error(), "");
      EXPECT_EQ(io::rows_of(four.matrix()), whole) << path << " in pieces of " << bytes;
    }
}

TEST(Parts, OfFilesAreThoseOfTheWhole) {
  const std::string by_rows = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5), }\n";
  std::string npy = std::string("\x93NUMPY\x01\x00", 8) + char(by_rows.size()) + '\0' + by_rows;
  for (int k = 0; k < 15; ++k) {
    const double x = k;
    npy.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  expect_parts_of(io::file_with(npy, "rows.npy"));
  Queue<Cpu> q(1);
  Matrix<double> A(70, 70);
  io::generate(q, io::Generator("spd:n=70"), A.view());
  for (const char* const name : {"A.npy", "A.mtx", "A.mtx.gz"}) {
    io::write_matrix(io::test_folder() + name, A);
    expect_parts_of(io::test_folder() + name);
  }
  const std::string banner = "%%MatrixMarket matrix ";
  expect_parts_of(io::file_with(banner + "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"));
  expect_parts_of(io::file_with(banner + "array real skew-symmetric\n3 3\n2\n3\n5\n"));
  expect_parts_of(io::file_with(banner + "coordinate real general\n3 4 4\n1 1 1\n3 4 2\n1 1 5\n2 3 1\n"));
  expect_parts_of(io::file_with(banner + "coordinate pattern symmetric\n4 4 3\n2 1\n3 3\n2 4\n"));
  expect_parts_of(io::file_with(banner + "coordinate real skew-symmetric\n3 3 2\n2 1 4\n1 3 7\n"));
}

TEST(Parts, OfGeneratorsAreThoseOfTheWhole) {
  Queue<Cpu> q(1);
  for (const char* const text : {"uniform:n=50", "spd:n=50", "randsvd:n=50", "bem:n=49", "graded:n=50"}) {
    const io::Generator generator(text);
    Matrix<double> whole(generator.n(), generator.n()), block(20, 10);
    io::generate(q, generator, whole.view());
    io::generate(q, generator, block.view(), 30, 7);
    EXPECT_EQ(io::rows_of(block), io::rows_of(whole.view().block(7, 30, 20, 10))) << text;
  }
}

TEST(Parts, AreThoseOfTheWholeHoweverTheTextIsCut) {
  const std::string banner = "%%MatrixMarket matrix ", array = banner + "array real ";
  expect_parts_of(io::file_with(array + "general\n% of rows\n2 3\n\n1 2 3 4\n  % 7 7 7 7 7 7 7\n\n5\t6\n\n"));
  expect_parts_of(io::file_with(array + "general\n3 2\n-1e-3 +2.5 123456789.123456789 -0 5 6"));
  expect_parts_of(io::file_with(array + "general\n2 2\r\n1\r\n2\r\n3\r\n4\r\n"));
  expect_parts_of(io::file_with(array + "general\n1 1\n42"));
  expect_parts_of(io::file_with(banner + "coordinate real general\n2 3 3\n% 1 1 1\n1 1 1\n\n  %\n2 3 4\n1 2 3"));
  expect_parts_of(io::file_with(banner + "coordinate real general\n2 2 0\n"));
  expect_parts_of(io::file_with(banner + "coordinate integer symmetric\n3 3 3\n1 2 1\n3 1 2\n3 3 5\n"));
}

/// Several processes say what one says.
void expect_same_said_of(const std::string& content, std::int64_t bytes) {
  const std::string said = io::error_of(content);
  const Four four(io::file_with(content), 1, bytes);
  EXPECT_EQ(four.error(), said) << content;
  if (!said.empty()) return;
  EXPECT_EQ(four.notes(), io::read_matrix(io::file_with(content)).notes) << content;
}

TEST(Parts, AreReadWithTheErrorsAndNotesOfTheWhole) {
  const std::string banner = "%%MatrixMarket matrix ", array = banner + "array real general\n2 2\n",
                    entries = banner + "coordinate real ";
  for (const std::int64_t bytes : {1, 5, 1 << 20}) {
    for (const char* const values : {"1\n2\n3,5\n4\n", "1\n2\n3\n", "1 2 3 4\n5\n", "1\n2\nnan\n4\n",
                                     "1\n2\n3\n4\nabc\n", "1\n2\n3\n4\n5\n6\n7\nabc\n", "1\n1e999\n3\n4\n"})
      expect_same_said_of(array + values, bytes);
    expect_same_said_of(banner + "array real symmetric\n2 2\n1\n2\n2\n4\n", bytes);
    for (const char* const lines :
         {"general\n2 2 2\n1 1 1\n3 1 1\n", "general\n2 2 2\n1 1 1\n1 1\n", "general\n2 2 2\n1 1 1\n2 2 1 7\n",
          "general\n2 2 3\n1 1 1\n2 2 1\n", "general\n2 2 1\n1 1 1\n2 2 1\n", "general\n2 2 2\n1 1 1e308\n1 1 1e308\n",
          "general\n2 2 4\n1 1 1\n2 2 1\n2 2 5\n1 1 7\n", "symmetric\n2 2 2\n2 1 1\n1 2 1\n",
          "symmetric\n2 2 3\n2 1 1\n2 1 4\n1 1 5\n", "skew-symmetric\n2 2 1\n1 1 4\n"})
      expect_same_said_of(entries + lines, bytes);
  }
  const std::string text = "1 2\n3 4\n";
  EXPECT_NE(Four(io::file_with(text, "A.txt"), 1, 8).error().find("lasolve convert"), std::string::npos);
}

TEST(Parts, AreOfOneFile) {
  const std::string banner = "%%MatrixMarket matrix array real general\n2 1\n", path = io::file_with(banner + "1\n2\n"),
                    longer = io::file_with(banner + "1\n234\n", "longer.mtx");
  const std::string error = Four(path, 1, 8, 1, false, longer).error();
  EXPECT_NE(error.find("expected one file on all machines, found 49 bytes for rank 0 and 51 for rank 3"),
            std::string::npos)
      << error;
}

TEST(Parts, AreOfAFileThatIsOneLine) {
  std::string content = "%%MatrixMarket matrix array integer general\n1000 1000\n";
  for (int k = 0; k < 1000 * 1000; ++k) content += fmt::format("{} ", k);
  const Four four(io::file_with(content), 64, 300'000);
  ASSERT_EQ(four.error(), "");
  for (const auto& [i, j] : std::vector<std::pair<int, int>>{{0, 0}, {999, 0}, {17, 500}, {999, 999}})
    EXPECT_EQ(four.matrix()(i, j), i + 1000 * j);
}

TEST(Parts, KnowTheStructureOfTheWhole) {
  std::string content = "%%MatrixMarket matrix coordinate real symmetric\n2000 2000 2000\n";
  for (int i = 1; i <= 2000; ++i) content += fmt::format("{} {} 1\n", i, std::max(1, i - 2));
  const std::string path = io::file_with(content);
  EXPECT_EQ(Four(path, 64, 300).file().structure->advice(), io::read_matrix(path).structure->advice());
}

}  // namespace
}  // namespace lasolve::test::parts_test
