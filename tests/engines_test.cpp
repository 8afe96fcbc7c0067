// What drives engines, with one that has one rank; parts of files and generators, as ranks read and make them.
#include <cmath>
#include <memory>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "engines/solve.hpp"
#include "io/generators.hpp"
#include "io_files.hpp"

namespace lasolve::test::engines_test {
namespace {

using engines::Distributed;
using engines::Part;

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

/// The parts of a file, put together.
Matrix<double> put_together(const std::string& path, std::int64_t block) {
  Matrix<double> all;
  for (int row = 0; row < 2; ++row)
    for (int col = 0; col < 2; ++col) {
      BlockCyclic its;
      const io::MatrixFile part =
          io::read_matrix(path, {.part = [&](std::int64_t m, std::int64_t n, const std::string&) {
                            return its = layout(m, n, block, 2, 2, row, col);
                          }});
      if (all.rows() == 0) all = Matrix<double>(its.rows.length, its.cols.length);
      EXPECT_EQ(part.matrix.rows(), its.rows.count());
      its.for_each_block([&](auto i, auto j, auto m, auto n, auto at_i, auto at_j) {
        copy_on_host<double>(part.matrix.view().block(at_i, at_j, m, n), all.view().block(i, j, m, n));
      });
    }
  return all;
}

void expect_parts_of(const std::string& path) {
  const auto whole = io::rows_of(io::read_matrix(path).matrix);
  for (const std::int64_t block : {1, 2, 64}) EXPECT_EQ(io::rows_of(put_together(path, block)), whole) << path;
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

TEST(Parts, AreRefusedWhereTablesOfTextAreGiven) {
  const io::ReadOptions options = {.part = [](auto m, auto n, auto&) { return layout(m, n, 1, 1, 1, 0, 0); }};
  EXPECT_NE(io::error_of("1 2\n3 4\n", options, "A.txt").find("lasolve convert"), std::string::npos);
}

/// One rank, which solves by this library; `error` times the first element of its solutions is what is wrong with them.
template <class T>
class FactoredHere final : public engines::Factored<T> {
 public:
  FactoredHere(Method method, Part<T> A, double error)
      : error_(error),
        factors_(Matrix<T>(copy_of(A.local)), Options{.device = {Device::cpu}, .factorization = method}) {}
  Outcome outcome() const override { return factors_.report().outcome; }
  void solve(Op op, Part<T> X) override {
    const Matrix<T> B = copy_of(X.local);
    (void)factors_.solve(B, X.local, op);
    X.local(0, 0) *= T(1 + error_);
  }

 private:
  static Matrix<T> copy_of(MatrixView<const T> A) {
    Matrix<T> copy(A.rows(), A.cols());
    copy_on_host<T>(A, copy.view());
    return copy;
  }
  double error_;
  Factorization<T> factors_;
};

class OneRank final : public engines::Engine {
 public:
  double error = 0, error_in_fp32 = 0;

  std::string version() const override { return "one rank"; }
  engines::Ranks ranks() const override { return {}; }
  std::int64_t most_elements() const override { return 1 << 20; }
  void abort(int) noexcept override { std::abort(); }
  void use_threads(int) override {}
  void sum(std::span<double>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  std::unique_ptr<engines::Factored<double>> factor(Method method, Part<double> A) override {
    return std::make_unique<FactoredHere<double>>(method, A, error);
  }
  std::unique_ptr<engines::Factored<float>> factor(Method method, Part<float> A) override {
    return std::make_unique<FactoredHere<float>>(method, A, error_in_fp32);
  }
};

Report solved(OneRank& engine, const std::string& generator, const Options& options, Op op = Op::none) {
  const io::Generator its(generator);
  const auto n = its.n();
  Queue<Cpu> q(1);
  const BlockCyclic square = layout_of(engine.ranks(), n, n, 16);
  const engines::PartOfA A(
      square, [&](std::int64_t first, MatrixView<double> columns) { io::generate(q, its, columns, first); });
  Distributed<double> X(layout_of(engine.ranks(), n, 1, 16));
  return engines::solve({engine, A, op, nullptr, options}, X);
}

TEST(Engines, AreHeldToTheSameChecks) {
  OneRank engine;
  for (const Op op : {Op::none, Op::transpose}) {
    const Report report = solved(engine, "uniform:n=80", {.condition = true}, op);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_STREQ(name_of(report.method), "lu");
    EXPECT_LT(*report.hpl_residual, 1);
    EXPECT_LT(*report.forward_error, 1e-10);
    EXPECT_GT(*report.digits, 10);
  }
  EXPECT_STREQ(name_of(solved(engine, "spd:n=80", {}).method), "cholesky");
  EXPECT_EQ(solved(engine, "hilbert:n=80", {.condition = true}).outcome.kind, Outcome::ill_conditioned);
  EXPECT_EQ(solved(engine, "growth:n=120", {.refine = Refine::none}).outcome.kind, Outcome::inaccurate);
  const Report grown = solved(engine, "growth:n=56", {});
  EXPECT_TRUE(grown.outcome.ok());
  EXPECT_GT(grown.refine_iterations, 0);
  EXPECT_EQ(solved(engine, "uniform:n=80", {.factorization = Method::cholesky}).outcome.kind,
            Outcome::not_positive_definite);
  EXPECT_EQ(solved(engine, "diagdom:n=80", {.factorization = Method::cholesky}).outcome.kind, Outcome::not_symmetric);
}

TEST(Engines, ThatAnswerWrongGiveNoAnswer) {
  OneRank engine;
  engine.error = 1e-6;
  EXPECT_EQ(solved(engine, "uniform:n=80", {.refine = Refine::none}).outcome.kind, Outcome::inaccurate);
  EXPECT_TRUE(solved(engine, "uniform:n=80", {}).outcome.ok()) << "a small error is refined away";
  engine.error = 10;
  EXPECT_EQ(solved(engine, "uniform:n=80", {}).outcome.kind, Outcome::inaccurate);
  engine.error = std::nan("");
  EXPECT_EQ(solved(engine, "uniform:n=80", {}).outcome.kind, Outcome::inaccurate);
}

TEST(Engines, FactorInFp32AndRefine) {
  OneRank engine;
  const Options fp32 = {.precision = Precision::fp32};
  const Report refined = solved(engine, "uniform:n=80", fp32);
  EXPECT_TRUE(refined.outcome.ok());
  EXPECT_GT(refined.refine_iterations, 0);
  EXPECT_LT(*refined.forward_error, 1e-10);
  const auto falls_back = [&](const std::string& generator) {
    const Report report = solved(engine, generator, fp32);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_EQ(report.precision, Precision::fp64);
    EXPECT_NE(report.notes.at(0).find("fp64 factors were used instead"), std::string::npos);
  };
  falls_back("randsvd:n=80,kappa=1e11");
  engine.error_in_fp32 = 10;
  falls_back("uniform:n=80");
}

TEST(Engines, ReachAnAccuracyOrSaySo) {
  OneRank engine;
  EXPECT_TRUE(solved(engine, "uniform:n=80", {.accuracy = 1e-15}).outcome.ok());
  EXPECT_EQ(solved(engine, "uniform:n=80", {.refine = Refine::none, .accuracy = 1.2e-16}).outcome.kind,
            Outcome::accuracy_not_reached);
}

}  // namespace
}  // namespace lasolve::test::engines_test
