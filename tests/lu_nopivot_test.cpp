// LU without interchanges, of diagonally dominant matrices, on the CPU and on CUDA.
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// Dominant by rows, or by columns, and not by the other: the entries of one row, or column, are much larger.
template <class T>
Matrix<T> dominant(std::int64_t n, bool by_rows, std::uint64_t seed = 3) {
  Matrix<T> A = random_matrix<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const T size = (by_rows ? i : j) % 2 == 0 ? T(8) : T(1);
      A(i, j) = i == j ? (i % 3 == 0 ? -size : size) * T(n) : A(i, j) * size;
    }
  return A;
}

class LuNopivotSolver : public OnTarget {
 protected:
  Options without_pivots(std::int64_t block_size = 0) const {
    Options o = options(block_size);
    o.factorization = Method::lu_nopivot;
    return o;
  }
};

TEST_P(LuNopivotSolver, solves_sizes_around_its_blocks) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::uint64_t turn = 0;
    for (const std::int64_t nb : {1, 7, 32, 100, 0})
      for (const std::int64_t n : {1, 2, 31, 32, 33, 64, 65, 131, 333}) {
        const bool by_rows = ++turn % 2 == 0;
        const Op op = turn % 3 == 0 ? Op::transpose : Op::none;
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb << ", by rows " << by_rows);
        const auto solved = solve_random(dominant<T>(n, by_rows), 1 + std::int64_t(turn % 4), without_pivots(nb), op);
        expect_solved(solved);
        EXPECT_EQ(solved.report.method, Method::lu_nopivot);
      }
  });
}

/// From the host to a device, where nothing has to be known of all of A before.
TEST_P(LuNopivotSolver, factors_columns_as_they_come) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t nb : {24, 0})
      for (const std::int64_t n : {1, 95, 96, 97, 333, 1100}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb);
        Options o = without_pivots(nb);
        o.tuning = tuning_of(o.device);
        o.tuning->arriving_bytes = 0;
        o.assume_suitable = true, o.check = false, o.allow_nonfinite = true;
        const Matrix<T> A = dominant<T>(n, n % 2 == 0), B = random_matrix<T>(n, 2, 9);
        Matrix<T> X(n, 2);
        const Report report = solve(A.view(), B.view(), X.view(), o);
        EXPECT_TRUE(report.outcome.ok());
        EXPECT_LT((hpl_residual<T>(A.view(), B.view(), X.view())), hpl_threshold);
        if (GetParam().device == Device::cuda && n > 512) {
          EXPECT_EQ(report.schedule, Schedule::left_looking);
        }
      }
  });
}

TEST_P(LuNopivotSolver, refuses_what_is_not_dominant_unless_it_is_assumed) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(40, 40, 5), B = random_matrix<T>(40, 2);
    Options o = without_pivots();
    const auto refused = solve_for(A, B, o);
    EXPECT_EQ(refused.report.outcome.kind, Outcome::unsuitable);
    EXPECT_FALSE(refused.report.outcome.has_solution());
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t i = 0; i < 40; ++i) EXPECT_TRUE(std::isnan(refused.X(i, j)));
    o.assume_suitable = true;
    o.refine = Refine::classical;
    EXPECT_TRUE(solve_for(A, B, o).report.outcome.has_solution());
  });
}

TEST_P(LuNopivotSolver, names_the_first_pivot_that_is_zero) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t at : {0, 31, 32, 70}) {
      Matrix<T> A = dominant<T>(100, true);
      for (std::int64_t k = 0; k < 100; ++k) A(at, k) = A(k, at) = 0;
      Options o = without_pivots(24);
      o.assume_suitable = true;
      const Report report = solve_random(A, 1, o).report;
      EXPECT_EQ(report.outcome.kind, Outcome::singular);
      EXPECT_EQ(report.outcome.at, at);
    }
  });
}

/// The reciprocal of such a pivot overflows. Other methods are solved with by the same primitives.
TEST_P(LuNopivotSolver, solves_with_pivots_that_are_subnormal) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T tiny = 64 * std::numeric_limits<T>::denorm_min();
    for (const auto& [n, nrhs] : {std::pair<std::int64_t, std::int64_t>{40, 3}, {100, 1}})
      for (const std::int64_t at : {std::int64_t(0), n / 2, n - 1})
        for (const Method method : {Method::lu_nopivot, Method::lu, Method::cholesky}) {
          SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n << ", pivot " << at);
          const auto of_size = [&, at = at](auto i) { return T(i == at ? tiny : 1); };
          const Matrix<T> A = matrix_of<T>(n, n, [&](auto i, auto j) { return i == j ? of_size(i) : T(0); });
          const Matrix<T> B = matrix_of<T>(n, nrhs, [&](auto i, auto) { return of_size(i); });
          Options o = judged_by_residual(options(24));
          o.factorization = method;
          const auto solved = solve_for(A, B, o);
          EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
          for (std::int64_t j = 0; j < nrhs; ++j)
            for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(solved.X(i, j), 1, 1e-6) << i;
        }
  });
}

TEST_P(LuNopivotSolver, refuses_a_schedule_that_it_does_not_have_and_nan_as_misuse) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Matrix<T> A = dominant<T>(20, true);
    Options o = without_pivots();
    o.schedule = Schedule::crout;
    EXPECT_THROW(solve_random(A, 1, o), std::invalid_argument);
    A(3, 4) = std::numeric_limits<T>::quiet_NaN();
    EXPECT_THROW(solve_for(A, random_matrix<T>(20, 1), without_pivots()), NotFinite);
  });
}

LASOLVE_ON_ALL_TARGETS(LuNopivotSolver);

TEST(LuNopivotPlan, has_the_flops_of_LU_and_keeps_the_order_of_tasks_in_conflict) {
  for (const Schedule schedule : {Schedule::right_looking, Schedule::left_looking}) {
    const Plan plan = plan_of(Method::lu_nopivot, schedule, {.n = 50, .widths = {.panel = 8}, .lanes = Lanes::one()});
    double flops = 0;
    for (const Task& task : plan.tasks) flops += task.flops();
    EXPECT_NEAR(flops, 2.0 / 3 * 50 * 50 * 50, 1e-6);
  }
}

}  // namespace
}  // namespace lasolve::test
