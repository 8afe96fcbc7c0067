// Small systems on the CPU: the short way gives what the solver gives, and leaves to it what is out of the ordinary.
#include <atomic>
#include <cstdlib>
#include <new>

#include "systems.hpp"

namespace {
std::atomic<std::int64_t> pieces_of_memory = 0;
}
void* operator new(std::size_t bytes) {
  ++pieces_of_memory;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++pieces_of_memory;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace lasolve::test {
namespace {

Options on_cpu() {
  Options o;
  o.device = {Device::cpu, 0};
  return o;
}
/// The same values as without a tuning; but who brings one is not taken the short way.
Options the_long_way(Options o) {
  o.tuning = tuning_of(o.device);
  return o;
}
bool was_short(const Report& report) { return report.phases.seconds_of(Phase::other) == 0; }

void expect_same(const Report& a, const Report& b) {
  expect_outcome(a.outcome, b.outcome.kind, b.outcome.at);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.gemm, b.gemm);
  EXPECT_EQ(notes_of(a), notes_of(b));
  const auto choices = [](const Report& r) {
    return std::tuple(r.n, r.nrhs, r.method, r.precision, r.storage, r.products, r.residual, r.refine, r.schedule,
                      r.block_size, r.threads, r.refine_iterations);
  };
  EXPECT_EQ(choices(a), choices(b));
  EXPECT_EQ(a.backward_error.has_value(), b.backward_error.has_value());
  EXPECT_EQ(a.hpl_residual.has_value(), b.hpl_residual.has_value());
  if (a.nrhs == 1) {
    EXPECT_EQ(a.backward_error, b.backward_error);
    EXPECT_EQ(a.hpl_residual, b.hpl_residual);
  }
  // Where columns begin decides on how Eigen rounds the residual of several.
  EXPECT_NEAR(a.hpl_residual.value_or(0), b.hpl_residual.value_or(0), 0.1);
  EXPECT_EQ(a.rcond, b.rcond);
  EXPECT_EQ(a.phases.flops, b.phases.flops);
  EXPECT_EQ(a.solve_seconds > 0, b.solve_seconds > 0);
  EXPECT_TRUE(!a.backward_error || a.phases.seconds_of(Phase::check) > 0);
}

template <class T>
void expect_same(const Matrix<T>& A, const Options& o, Op op, std::int64_t nrhs = 1) {
  const Matrix<T> B = right_hand_sides<T>({A.view(), op}, nrhs);
  const auto one = solve_for(A, B, o, op), other = solve_for(A, B, the_long_way(o), op);
  EXPECT_FALSE(was_short(other.report));
  expect_same(one.report, other.report);
  EXPECT_TRUE(same_bits(one.X, other.X));
}

/// What a call throws; empty: nothing.
template <class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// With the defaults, by a method that is named, and unchecked.
template <std::size_t count>
void expect_same(const MatrixType (&types)[count], Method method) {
  Options named = on_cpu(), unchecked = on_cpu();
  named.factorization = method;
  named.gemm = std::string("eigen");
  unchecked.check = false;
  for (const Options& o : {on_cpu(), named, unchecked})
    for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 16, 33, 42, 43, 64})
      for (const MatrixType& type : types)
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(testing::Message() << type.name << ", n = " << n << ", op " << int(op) << ", check " << o.check);
          expect_same(type.make(n, floating_point<double>), o, op);
          expect_same(rounded<float>(type.make(n, floating_point<float>)), o, op);
        }
}

TEST(Small, allocates_nothing_for_a_few_unknowns) {
  const std::int64_t n = 16;
  Options o = on_cpu();
  o.gemm = std::string("eigen");
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 1);
  Matrix<double> X(n, 1);
  for (const Method method : {Method::automatic, Method::lu}) {
    o.factorization = method;
    EXPECT_TRUE(solve(A, B, X, o).outcome.ok());  // what is made once is there then
    const std::int64_t before = pieces_of_memory;
    const Report report = solve(A, B, X, o);
    EXPECT_EQ(pieces_of_memory - before, 0);
    EXPECT_TRUE(report.outcome.ok() && was_short(report));
  }
}

TEST(Small, gives_what_the_solver_gives) { expect_same(general_types, Method::lu); }
TEST(Small, gives_what_the_solver_gives_by_cholesky) { expect_same(positive_definite_types, Method::cholesky); }

TEST(Small, gives_what_the_solver_gives_for_several_right_hand_sides) {
  for (const std::int64_t n : {2, 4, 7, 16, 33, 43})
    for (const std::int64_t nrhs : {std::int64_t(2), n - 1, n, n + 1})
      for (const bool positive : {false, true})
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << ", nrhs = " << nrhs << ", op " << int(op));
          const Matrix<double> A = positive ? random_with_condition(n, 10, true) : random_matrix(n, n);
          expect_same(A, on_cpu(), op, nrhs);
          expect_same(rounded<float>(A), on_cpu(), op, nrhs);
          EXPECT_EQ(was_short(solve_for(A, right_hand_sides<double>({A.view(), op}, nrhs), on_cpu(), op).report),
                    nrhs <= n && n < 43);
        }
}

TEST(Small, is_for_systems_of_one_leaf) {
  const auto solved = [](std::int64_t n, const Options& o, std::int64_t nrhs = 1) {
    return solve_random(random_matrix(n, n), nrhs, o).report;
  };
  for (const std::int64_t n : {1, 4, 40}) EXPECT_TRUE(was_short(solved(n, on_cpu()))) << n;
  EXPECT_FALSE(was_short(solved(64, on_cpu())));
  for (const std::int64_t nrhs : {2, 4}) EXPECT_TRUE(was_short(solved(4, on_cpu(), nrhs))) << nrhs;
  EXPECT_FALSE(was_short(solved(4, on_cpu(), 5)));
  Options others[4] = {on_cpu(), on_cpu(), on_cpu(), on_cpu()};
  others[0].precision = Precision::fp32;
  others[1].block_size = 2;
  others[2].schedule = Schedule::recursive;
  others[3].refine = Refine::classical;
  for (const Options& o : others) EXPECT_FALSE(was_short(solved(4, o)));
  Options alike[2] = {on_cpu(), on_cpu()};
  alike[0].condition = true;
  double done = 0;
  alike[1].progress = [&](double share) { done = share; };
  for (const Options& o : alike) EXPECT_TRUE(was_short(solved(4, o)));
  EXPECT_EQ(done, 1);
  const Matrix<double> S = random_with_condition(4, 10, true);
  const auto as_cholesky = solve_random(S, 1, on_cpu());
  expect_solved(as_cholesky);
  EXPECT_TRUE(was_short(as_cholesky.report));
  EXPECT_EQ(as_cholesky.report.method, Method::cholesky);
  Options by_cholesky = on_cpu();
  by_cholesky.factorization = Method::cholesky;
  EXPECT_TRUE(was_short(solve_random(random_with_condition(64, 10, true), 1, by_cholesky).report));
  by_cholesky.triangle = Uplo::lower;
  EXPECT_FALSE(was_short(solve_random(S, 1, by_cholesky).report));
}

TEST(Small, leaves_to_the_solver_what_is_not_positive_definite) {
  Matrix<double> A = random_with_condition(6, 10, true);
  A(3, 4) = A(4, 3) = 10;  // symmetric with a positive diagonal
  expect_same(A, on_cpu(), Op::none);
  EXPECT_EQ(solve_random(A, 1, on_cpu()).report.method, Method::lu);
  Options named = on_cpu();
  named.factorization = Method::cholesky;
  expect_same(A, named, Op::none);
  EXPECT_EQ(solve_random(A, 1, named).report.outcome.kind, Outcome::not_positive_definite);
  A(3, 4) = 0.1, A(4, 3) = -0.1;  // by name only one triangle is read, and the check says so
  expect_same(A, named, Op::none);
}

TEST(Small, doubts_what_the_solver_doubts) {
  const Matrix<double> nearly = random_with_condition(20, 1e17);
  expect_same(nearly, on_cpu(), Op::none);
  EXPECT_NE(notes_of(solve_random(nearly, 1, on_cpu()).report).find("pivots"), std::string::npos);
  expect_same(wilkinson(42), on_cpu(), Op::none);
}

TEST(Small, refuses_what_the_solver_refuses) {
  constexpr std::int64_t n = 5;
  for (const double bad : {std::nan(""), double(INFINITY), -double(INFINITY)})
    for (const bool in_A : {true, false})
      for (const bool allowed : {true, false}) {
        SCOPED_TRACE(testing::Message() << bad << (in_A ? " in A" : " in b") << ", allowed: " << allowed);
        Matrix<double> A = random_matrix(n, n), b = random_matrix(n, 1, 2);
        (in_A ? A(3, 2) : b(3, 0)) = bad;
        Options o = on_cpu();
        o.allow_nonfinite = allowed;
        const auto told = [&](const Options& options) {
          Matrix<double> x(n, 1);
          return thrown([&] { solve(A.view(), b.view(), x.view(), options); });
        };
        EXPECT_EQ(told(o), told(the_long_way(o)));
        EXPECT_EQ(told(o).empty(), allowed);
        o.check = false;
        EXPECT_EQ(told(o), "");
      }
}

TEST(Small, solves_in_place_and_after_the_matrix_is_gone) {
  for (const bool check : {true, false})
    for (const std::int64_t n : {4, 30}) {
      Options o = on_cpu();
      o.check = check;
      Matrix<double> A = random_matrix(n, n, 5);
      const Matrix<double> B = right_hand_sides<double>({A.view(), Op::transpose}, 3);
      Factorization<double> whole(A.view(), the_long_way(o)), factors(A.view(), o);
      const double rcond = whole.rcond();
      Matrix<double> X(n, 3), Y = rounded<double>(B);
      whole.solve(B.view(), X.view(), Op::transpose);
      if (!check) as_eigen(A.view()).setConstant(std::nan(""));
      for (std::int64_t j = 0; j < 3; ++j) {  // each in place, then all
        const auto y = Y.view().columns(j, 1);
        const Report report = factors.solve(y, y, Op::transpose);
        EXPECT_TRUE(report.outcome.ok());
        EXPECT_TRUE(was_short(report));
        EXPECT_LT((as_eigen(y) - as_eigen(X.view().columns(j, 1))).norm(), 1e-10 * as_eigen(X.view()).norm());
      }
      EXPECT_EQ(factors.rcond(), rcond);
      Matrix<double> Z(n, 3);
      EXPECT_TRUE(factors.solve(B.view(), Z.view(), Op::transpose).outcome.ok());
      EXPECT_TRUE(same_bits(Z, X));
      EXPECT_EQ(factors.report().rcond, whole.report().rcond);
      const Report after = factors.solve(B.view().columns(0, 1), Z.view().columns(0, 1), Op::transpose);
      EXPECT_TRUE(was_short(after)) << "one that was not ordinary came between";
      EXPECT_EQ(after.rcond, whole.report().rcond);
    }
}

}  // namespace
}  // namespace lasolve::test
