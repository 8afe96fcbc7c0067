// What drives engines, with one that has one rank.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "core/tuning.hpp"
#include "engines/solve.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/recipe_fields.hpp"
#include "solvers/watch.hpp"

namespace lasolve::test::engines_test {
namespace {

using engines::Distributed;
using engines::Part;

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
    Resolved its;  // the recipes of this solve are nobody's
    const RecipeWatch watch({its});
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
  std::int64_t most = 1 << 20;

  std::string version() const override { return "one rank"; }
  engines::Ranks ranks() const override { return {}; }
  std::int64_t most_elements(std::size_t) const override { return most; }
  std::int64_t block_size() const override { return 16; }
  void abort(int) noexcept override { std::abort(); }
  void use_threads(int) override {}
  void sum(std::span<double>) override {}
  void largest(std::span<double>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  std::vector<Bytes> exchanged(std::vector<Bytes> for_ranks) override { return for_ranks; }
  std::unique_ptr<engines::Factored<double>> factor(Method method, Part<double> A) override {
    return factored(method, A, error);
  }
  std::unique_ptr<engines::Factored<float>> factor(Method method, Part<float> A) override {
    return factored(method, A, error_in_fp32);
  }

 private:
  template <class T>
  static std::unique_ptr<engines::Factored<T>> factored(Method method, Part<T> A, double error) {
    Resolved its;
    const RecipeWatch watch({its});
    return std::make_unique<FactoredHere<T>>(method, A, error);
  }
};

Report solved(OneRank& engine, const std::string& generator, const Options& options, Op op = Op::none,
              int exponent = 0) {
  const io::Generator its(generator);
  const auto n = its.n();
  Queue<Cpu> q(1);
  const BlockCyclic square = layout_of(engine.ranks(), n, n, 16);
  const engines::PartOfA A(square, [&](std::int64_t first, MatrixView<double> columns) {
    io::generate(q, its, columns, first);
    scale<double>(q, exponent, columns, columns);
  });
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

TEST(Engines, JudgeRowsAndColumnsInTheirOwnSize) {
  OneRank engine;
  for (const Op op : {Op::none, Op::transpose})
    for (const char* const generator : {"graded:n=80,bits=60", "graded:n=80,bits=200"})
      for (const Wanted equilibrate : {Wanted::off, Wanted::on}) {
        const Report here = solved(engine, generator, {.equilibrate = equilibrate, .condition = true}, op);
        const io::Generator its(generator);
        Queue<Cpu> q(1);
        Matrix<double> A(its.n(), its.n());
        io::generate(q, its, A.view());
        const Matrix<double> b = io::row_sums(q, system_matrix<double, Cpu>(A, op, Uplo::both));
        Matrix<double> X(its.n(), 1);
        const Options options = {.device = {Device::cpu}, .equilibrate = equilibrate, .condition = true};
        const Report one = lasolve::solve(A, b, X, options, op);
        EXPECT_TRUE(here.outcome.ok()) << generator << ": " << here.outcome.message();
        EXPECT_EQ(here.equilibration, one.equilibration);
        EXPECT_LT(*here.rcond, 1e-16);
        EXPECT_EQ(here.rcond_of_scaled_rows.has_value(), one.rcond_of_scaled_rows.has_value());
        EXPECT_EQ(here.rcond_of_scaled_columns.has_value(), one.rcond_of_scaled_columns.has_value());
        EXPECT_NEAR(*here.digits, *one.digits, 0.1);
      }
  EXPECT_EQ(solved(engine, "hilbert:n=80", {.equilibrate = Wanted::on, .condition = true}).outcome.kind,
            Outcome::ill_conditioned);
}

TEST(Engines, ScaleRowsAndColumnsWhereThatHelps) {
  OneRank engine;
  engine.error_in_fp32 = 10;
  const Options fp32 = {.precision = Precision::fp32, .equilibrate = Wanted::on};
  EXPECT_TRUE(solved(engine, "graded:n=80,bits=30", fp32).outcome.ok());
  engine.error = 10;
  const Report failed = solved(engine, "graded:n=80,bits=30", {});
  EXPECT_EQ(failed.outcome.kind, Outcome::inaccurate);
  const auto is_scaled = [](const std::string& note) { return note.find("failed: rows and columns") != note.npos; };
  EXPECT_TRUE(std::any_of(failed.notes.begin(), failed.notes.end(), is_scaled));
  const Report even = solved(engine, "uniform:n=80", {});
  EXPECT_FALSE(std::any_of(even.notes.begin(), even.notes.end(), is_scaled));
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
  engine.most = 80 * 80 - 1;
  const Report stays = solved(engine, "uniform:n=80", fp32);
  EXPECT_EQ(stays.precision, Precision::fp32);
  EXPECT_NE(stays.notes.at(0).find("there is no memory for fp64 factors"), std::string::npos);
}

/// By the way from recipe to recipe, with the reason of each step as text has it.
std::string way(OneRank& engine, const std::string& generator, const Options& options, int exponent = 0) {
  Resolved decided;
  const RecipeWatch watch({decided});
  const Report report = solved(engine, generator, options, Op::none, exponent);
  std::string text = report.outcome.name() + ":";
  const Recipe* at = nullptr;
  for (const Recipe& r : decided.recipes)
    if (r.number == decided.taken->number) at = &r;
  EXPECT_EQ(at->method, report.method);
  EXPECT_EQ(at->precision.name, report.precision);
  EXPECT_EQ(at->executor, Executor::ranks);
  EXPECT_EQ(decided.taken->refine, report.refine);
  EXPECT_EQ(at->block_size(), report.block_size);
  for (const Before& before : those_before(decided.recipes, *at))
    text += fmt::format(" {} {}", before.number, before.reason);
  return text;
}

TEST(Engines, TakeRecipesAndSayWhich) {
  OneRank engine;
  EXPECT_EQ(way(engine, "spd:n=80", {}), "solved:");
  EXPECT_EQ(way(engine, "growth:n=56", {}), "solved:") << "refined, with the same factors";
  EXPECT_EQ(way(engine, "hilbert:n=80", {.condition = true}), "ill_conditioned: 0 not_positive_definite");
  EXPECT_EQ(way(engine, "randsvd:n=80,kappa=1e11", {.precision = Precision::fp32}), "solved: 0 too_coarse");
  EXPECT_EQ(way(engine, "uniform:n=80", {}, -1040), "solved: 0 too_small");
  engine.error = 10;
  EXPECT_EQ(way(engine, "graded:n=80,bits=30", {}), "inaccurate: 0 badly_scaled 1 badly_scaled");
}

TEST(Engines, HaveRecipesOfWhatTheyCan) {
  const Means shared = {.tuning = &cpu_tuning().values, .precisions = ~0u, .is_shared = true, .has_gmres = false};
  Options o;
  o.block_size = 48, o.precision = Precision::fp32;
  const Recipes recipes = resolve(o, {.n = 40000, .glance = Method::cholesky}, shared);
  for (const Recipe& r : recipes) {
    EXPECT_EQ(r.executor, Executor::ranks);
    EXPECT_EQ(r.schedule, Schedule::right_looking);
    EXPECT_EQ(r.widths, (Widths{.panel = 48})) << "A is dealt out in blocks of 48 already";
    EXPECT_EQ(r.condition, Estimate::never) << "no pivots are there to doubt";
    EXPECT_FALSE(r.after_stall()) << "GMRES is asked for of nobody who has none";
    EXPECT_EQ(r.refines(), r.is_coarse());
    EXPECT_EQ(r.after_inaccuracy().has_value(), !r.is_coarse());
  }
  const Recipe* const finer = recipes.after(recipes.first(), Reason::too_coarse);
  ASSERT_TRUE(finer);
  EXPECT_EQ(finer->method, Method::cholesky);
  EXPECT_TRUE(recipes.after(*finer, Reason::not_positive_definite));
  const std::function<void(Options&)> asked[] = {
      [](Options& o) { o.refine = Refine::gmres; },
      [](Options& o) { o.factorization = Method::lu_nopivot; },
      [](Options& o) { o.pivoting = Pivoting::tournament; },
      [](Options& o) { o.schedule = Schedule::left_looking; },
      [](Options& o) { o.triangle = Uplo::lower; },
      [](Options& o) { o.residual = Residual::extra; },
      [](Options& o) { o.bounds = true; },
  };
  for (const auto& ask : asked) {
    Options more = o;
    ask(more);
    EXPECT_THROW(resolve(more, {.n = 40000}, shared), std::invalid_argument);
  }
}

TEST(Engines, ReachAnAccuracyOrSaySo) {
  OneRank engine;
  EXPECT_TRUE(solved(engine, "uniform:n=80", {.accuracy = 1e-15}).outcome.ok());
  EXPECT_EQ(solved(engine, "uniform:n=80", {.refine = Refine::none, .accuracy = 1.2e-16}).outcome.kind,
            Outcome::accuracy_not_reached);
}

}  // namespace
}  // namespace lasolve::test::engines_test
