// P A = L U and what is solved with it, on the CPU and on CUDA.
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/lu/cpu/panel.hpp"
//
#include "core/choose.hpp"
#include "devices.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/refine/check_by_columns.hpp"
#include "systems.hpp"

namespace lasolve::test::lu_test {
namespace {

constexpr std::int64_t block_sizes[] = {1, 7, 32, 64, 160, 0};
constexpr std::int64_t numbers_of_right_hand_sides[] = {1, 2, 15, 16, 40};
constexpr Op ops[] = {Op::none, Op::transpose};

std::vector<std::int64_t> sizes_around(std::int64_t nb) {
  if (nb == 0) nb = 64;
  std::vector<std::int64_t> sizes = {1, 2, 3, 5, 10, 16, nb - 1, nb, nb + 1, 2 * nb + 3, 257};
  std::erase(sizes, 0);
  return sizes;
}

class Lu : public OnTarget {
 protected:
  Options lu(std::int64_t block_size = 0) const {
    Options o = options(block_size);
    o.factorization = Method::lu;
    return o;
  }
};

TEST_P(Lu, solves_sizes_around_the_block_size) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::size_t turn = 0;
    for (std::int64_t nb : block_sizes)
      for (std::int64_t n : sizes_around(nb)) {
        const std::int64_t nrhs = numbers_of_right_hand_sides[turn % 5];
        const Op op = ops[turn++ % 2];
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb << ", nrhs = " << nrhs << ", op " << int(op));
        const auto solved = solve_random(random_matrix<T>(n, n, turn), nrhs, lu(nb), op);
        expect_solved(solved);
        EXPECT_EQ(solved.report.method, Method::lu);
        EXPECT_TRUE(nb == 0 ? solved.report.block_size > 0 : solved.report.block_size == std::min(nb, n));
      }
  });
}

TEST_P(Lu, solves_with_every_schedule) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    expect_every_schedule_solves(lu(), [](std::int64_t n) { return random_matrix<T>(n, n, 3); });
  });
}

TEST_P(Lu, solves_in_panels_of_several_steps) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(650, 650);
    for (std::int64_t nb : {256, 300, 650})
      for (Schedule schedule : schedules) {
        SCOPED_TRACE(testing::Message() << "nb = " << nb << ", schedule " << int(schedule));
        Options o = lu(nb);
        o.schedule = schedule;
        expect_solved(solve_random(A, 1, o));
      }
  });
}

template <class T>
void expect_large_solved(std::int64_t n, Options o) {
  o.factorization = Method::lu;
  o.schedule = Schedule::right_looking;
  expect_solved_on_cuda(random_matrix<T>(n, n), o);
}

/// Where panels are hidden behind the updates at first, and the rows of L are interchanged when all is factored.
TEST(LuOnCuda, solves_a_large_system) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (std::int64_t nb : {0, 200, 300, 1100}) {
    SCOPED_TRACE(nb);
    Options o;
    o.block_size = nb;
    expect_large_solved<float>(10500, o);
    if (nb <= 200) expect_large_solved<double>(8300, o);  // whose last columns have a queue of their own
  }
}

/// With products large enough that a block has several tiles of C, while other products and panels run.
TEST(LuOnCuda, solves_with_every_backend) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    SCOPED_TRACE(backend->name);
    Options o;
    o.gemm = std::string(backend->name);
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    if (backend->in<Precision::fp64>()) expect_large_solved<double>(4000, o);
    if (backend->in<Precision::fp32>()) expect_large_solved<float>(4000, o);
  }
}

TEST_P(Lu, solves_sizes_around_what_one_and_more_blocks_of_threads_hold) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t n : {511, 512, 513, 700, 1023, 1025, 1100, 1537}) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      expect_solved(solve_random(random_matrix<T>(n, n), 2, lu(n % 2 == 0 ? 0 : 128)));
      const auto signs =
          matrix_of<T>(n, n, [&, A = random_matrix<T>(n, n)](auto i, auto j) { return A(i, j) < 0 ? -1 : 1; });
      expect_solved(solve_random(signs, 1, lu()));  // where many candidates for the pivot are equal
    }
  });
}

TEST_P(Lu, solves_for_any_number_of_right_hand_sides) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(300, 300);
    for (std::int64_t nrhs : {1, 2, 15, 16, 40, 128, 129, 136, 250, 256, 257})
      for (Op op : ops) {
        SCOPED_TRACE(testing::Message() << "nrhs = " << nrhs << ", op " << int(op));
        expect_solved(solve_random(A, nrhs, lu(), op));
      }
  });
}

TEST_P(Lu, solves_or_finds_the_zero_pivot_of_each_matrix_type) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const MatrixType& type : general_types)
      for (std::int64_t n : {1, 2, 10, 33, 130}) {
        SCOPED_TRACE(testing::Message() << type.name << ", n = " << n);
        const Matrix<T> A = rounded<T>(type.make(n, floating_point<T>));
        const auto solved = solve_random(A, 3, judged_by_residual(lu(32)));
        if (type.zero_column)
          expect_outcome(solved.report.outcome, Outcome::singular, type.zero_column(n));
        else
          expect_solved(solved);
      }
  });
}

TEST_P(Lu, reports_the_first_zero_pivot_wherever_it_is) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 140;
    for (std::int64_t nb : {7, 32, 0})
      for (std::int64_t first : {0, 1, 6, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 139})
        for (std::int64_t count : {1, 2}) {
          if (first + count > n) continue;
          SCOPED_TRACE(testing::Message() << "nb = " << nb << ", column " << first << ", " << count << " of them");
          const Matrix<T> A = rounded<T>(with_zero_columns(random_matrix(n, n), first, count));
          expect_outcome(Factorization<T>(A.view(), lu(nb)).report().outcome, Outcome::singular, first);
        }
    const Matrix<T> ones = matrix_of<T>(40, 40, [](auto, auto) { return 1; });  // rank 1, eliminated exactly
    expect_outcome(Factorization<T>(ones.view(), lu(16)).report().outcome, Outcome::singular, 1);
    const Matrix<T> nothing = matrix_of<T>(40, 40, [](auto, auto) { return 0; });
    expect_outcome(Factorization<T>(nothing.view(), lu(16)).report().outcome, Outcome::singular, 0);
  });
}

TEST(LuOnTheCpu, finds_small_integer_matrices_singular) {
  Options o;
  o.device.kind = Device::cpu;
  const std::vector<double> second_is_twice_the_first = {1, 2, 3, 2, 4, 6, 1, 0, 1};
  const MatrixView<const double> A(second_is_twice_the_first.data(), 3, 3, 3);
  expect_outcome(Factorization<double>(A, o).report().outcome, Outcome::singular, 1);
}

TEST_P(Lu, tells_the_truth_about_growth) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t n : {10, 23, 60, 150}) {
      SCOPED_TRACE(n);
      const Matrix<T> A = rounded<T>(wilkinson(n));
      const auto solved = solve_for(A, random_matrix<T>(n, 2), lu(16));
      EXPECT_EQ(solved.report.outcome.kind, solved.hpl < hpl_threshold ? Outcome::solved : Outcome::inaccurate);
    }
    EXPECT_FALSE(solve_for(rounded<T>(wilkinson(150)), random_matrix<T>(150, 2), lu(16)).report.outcome.ok());
  });
}

TEST_P(Lu, solves_named_matrices) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    expect_solved(solve_random(rounded<T>(hilbert(12)), 2, judged_by_residual(lu())));
    expect_solved(solve_random(rounded<T>(hadamard(128)), 2, lu(32)));
  });
}

TEST_P(Lu, of_nothing_is_nothing) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const auto& [n, nrhs] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 3}, {5, 0}, {130, 0}}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", nrhs = " << nrhs);
      expect_solved(solve_random(random_matrix<T>(n, n), nrhs, lu(32)));
    }
  });
}

TEST_P(Lu, never_hides_a_nan) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T nan = std::numeric_limits<T>::quiet_NaN();
    Options unchecked = lu(16);
    unchecked.check = false;
    for (std::int64_t at : {0, 8, 15, 16, 40, 69}) {
      SCOPED_TRACE(at);
      Matrix<T> A = random_matrix<T>(70, 70);
      A(at, at) = nan;
      const auto solved = solve_random(A, 2, unchecked);
      EXPECT_TRUE(!solved.report.outcome.ok() || std::isnan(infinity_norm(solved.X)));
      for (std::int64_t column : {0, 1, 2}) {
        Matrix<T> B = random_matrix<T>(70, 3);
        B(at, column) = nan;
        Options allowed = lu(16);
        allowed.allow_nonfinite = true;
        EXPECT_FALSE(solve_for(random_matrix<T>(70, 70), B, allowed).report.outcome.ok()) << "NaN in b " << column;
      }
    }
  });
}

TEST_P(Lu, gives_the_same_bits_again_with_every_backend) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(300, 300), B = random_matrix<T>(300, 20);
    for (const std::string& name : runnable_backends(options().device, precision_of<T>)) {
      SCOPED_TRACE(name);
      Options o = lu();
      o.gemm = name;
      const auto solved = solve_for(A, B, o);
      expect_solved(solved);
      EXPECT_EQ(solved.report.gemm, name);
      EXPECT_TRUE(same_bits(solved.X, solve_for(A, B, o).X));
    }
  });
}

LASOLVE_ON_ALL_TARGETS(Lu);

/// What is only seen from inside: the factors themselves, on the CPU.
template <class T>
class LuFactors : public testing::Test {
 protected:
  /// Of an A that is there, or that arrives in block columns.
  DecompositionIn<T, Cpu> factored(const Matrix<T>& A, Schedule schedule, std::int64_t nb, bool arriving) {
    const auto nothing = [](auto, auto) { return std::numeric_limits<double>::quiet_NaN(); };
    DecompositionIn<T, Cpu> factors(some_backend<Cpu>(), precision_of<T>, Method::lu,
                                    arriving ? matrix_of<T>(A.rows(), A.cols(), nothing) : rounded<T>(A));
    const Arriving<T, Cpu> its{A.view(), [](auto&, auto) {}};
    Recipe by{.method = Method::lu, .schedule = schedule, .widths = {.panel = nb}, .as_it_comes = arriving};
    if (arriving) by.widths.least = by.widths.unit = (nb + 7) / 8, by.widths.of_before = 0.5;
    factors.factor(q, by, arriving ? &its : nullptr);
    outcome = factors.outcome_of(*factors.ending(q));
    return factors;
  }
  Queue<Cpu> q{3};
  Outcome outcome;
};
using Elements = testing::Types<double, float>;
TYPED_TEST_SUITE(LuFactors, Elements);

TYPED_TEST(LuFactors, have_a_small_residual_and_no_multiplier_above_one) {
  using T = TypeParam;
  for (const MatrixType& type : general_types)
    for (const auto& [n, nb] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                                  {3, 7},
                                                                                  {16, 7},
                                                                                  {17, 7},
                                                                                  {31, 32},
                                                                                  {32, 32},
                                                                                  {33, 32},
                                                                                  {67, 32},
                                                                                  {68, 32},
                                                                                  {129, 64},
                                                                                  {130, 8},
                                                                                  {201, 9},
                                                                                  {257, 159}}) {
      const Schedule schedule = schedules[(n + nb) % 3];
      const bool arriving = schedule == Schedule::left_looking && n % 2 == 0;
      SCOPED_TRACE(testing::Message() << type.name << ", n = " << n << ", nb = " << nb << ", schedule " << int(schedule)
                                      << ", arriving " << arriving);
      const Matrix<T> A = rounded<T>(type.make(n, floating_point<T>));
      DecompositionIn<T, Cpu> factors = this->factored(A, schedule, nb, arriving);
      const auto LU = factors.values();
      const auto p = factors.pivots().p;
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_TRUE(j <= p(j, 0) && p(j, 0) < n) << "pivot " << j << " is row " << p(j, 0);
        for (std::int64_t i = j + 1; i < n && LU(j, j) != 0; ++i) ASSERT_LE(std::abs(LU(i, j)), 1) << i << ", " << j;
      }
      EXPECT_TRUE(type.zero_column || lu_residual<T>(A.view(), LU, p) < 30) << lu_residual<T>(A.view(), LU, p);
    }
}

TYPED_TEST(LuFactors, are_exact_where_elimination_is_and_the_first_of_equals_is_the_pivot) {
  using T = TypeParam;
  for (const Matrix<double>& exact : {hadamard(64), wilkinson(20)})
    for (int turn = 0; turn < 16; ++turn) {
      const std::int64_t nb = std::vector{1, 7, 16, 64}[turn % 4];
      const Schedule schedule = schedules[turn / 4 % 3];
      const bool arriving = turn >= 12;
      SCOPED_TRACE(testing::Message() << "n = " << exact.rows() << ", nb = " << nb << ", turn " << turn);
      DecompositionIn<T, Cpu> factors =
          this->factored(rounded<T>(exact), arriving ? Schedule::left_looking : schedule, nb, arriving);
      const auto reference = reference_lu(rounded<long double>(exact));
      EXPECT_TRUE(same_bits(rounded<T>(factors.values()), rounded<T>(reference.values)));
      const auto p = factors.pivots().p;
      EXPECT_EQ((std::vector<std::int64_t>(p.data(), p.data() + p.rows())), reference.pivots);
      EXPECT_TRUE(this->outcome.ok());
    }
}

TEST(HplCheck, is_the_same_when_the_matrix_is_made_again_by_columns) {
  constexpr std::int64_t n = 50;
  Queue<Cpu> q(3);
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 2), X = random_matrix(n, 2, 3);
  const Supply<double, Cpu> again = [&](Queue<Cpu>& queue, std::int64_t first, MatrixView<double> columns) {
    convert(queue, A.view().columns(first, columns.cols()), columns);
  };
  for (const Op op : {Op::none, Op::transpose})
    for (const std::int64_t nb : {1, 7, 25, 50, 60}) {
      const double error = check_by_columns<double>(q, again, op, Uplo::both, B.view(), X.view(), nb).backward_error;
      EXPECT_NEAR(
          lasolve::hpl_residual(error, n, epsilon<double>) / hpl_residual<double>({A.view(), op}, B.view(), X.view()),
          1, 1e-9);
      EXPECT_FALSE(passes(error, n, epsilon<double>));
    }
}

TEST(HplCheck, by_columns_reads_only_the_triangle_that_is_there) {
  constexpr std::int64_t n = 50;
  Queue<Cpu> q(3);
  const Matrix<double> B = random_matrix(n, 2), X = random_matrix(n, 2, 3);
  for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
    const OneTriangle<double> A(rounded<double>(random_with_condition(n, 10, true)), triangle);
    const Supply<double, Cpu> again = [&](Queue<Cpu>& queue, std::int64_t first, MatrixView<double> columns) {
      convert(queue, A.half.view().columns(first, columns.cols()), columns);
    };
    for (const std::int64_t nb : {1, 7, 25, 50, 60}) {
      const double error =
          check_by_columns<double>(q, again, Op::none, triangle, B.view(), X.view(), nb).backward_error;
      EXPECT_NEAR(
          lasolve::hpl_residual(error, n, epsilon<double>) / hpl_residual<double>(A.whole.view(), B.view(), X.view()),
          1, 1e-9);
    }
  }
}

TEST(HplCheck, by_columns_does_not_overflow) {
  Queue<Cpu> q(3);
  const Matrix<double> A = matrix_of<double>(3, 3, [](auto i, auto j) { return i == j ? (i == 0 ? 3e200 : 3) : 0; });
  const Matrix<double> B = matrix_of<double>(3, 1, [](auto i, auto) { return i == 0 ? 1 : 1e150; }),
                       X = matrix_of<double>(3, 1, [](auto i, auto) { return i == 0 ? 1 / 3e200 : 1e150 / 3; });
  const Supply<double, Cpu> again = [&](Queue<Cpu>& queue, std::int64_t first, MatrixView<double> columns) {
    convert(queue, A.view().columns(first, columns.cols()), columns);
  };
  for (const std::int64_t nb : {1, 2, 3}) {
    const double error =
        check_by_columns<double>(q, again, Op::none, Uplo::both, B.view(), X.view(), nb).backward_error;
    EXPECT_TRUE(passes(error, 3, epsilon<double>));
    EXPECT_LT(error, 1e-15);
  }
}

}  // namespace
}  // namespace lasolve::test::lu_test
