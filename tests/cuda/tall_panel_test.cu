// Panels of LU that are taller than registers hold, the kernel itself.
#include <cstring>

#include "lasolve/gemm.hpp"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/devices/cuda/plan.cuh"
#include "solvers/devices/cuda/trsm/triangle.cuh"
#include "solvers/lu/steps.hpp"
//
#include "devices.hpp"
#include "matrices.hpp"
#include "reference.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

template <class T>
struct Factored {
  Matrix<T> LU;
  Matrix<std::int64_t> p;
  std::int64_t zero;
};

/// P A = L U by `factor`, which also interchanges the rows.
template <class T, class Factor>
Factored<T> factored(const Matrix<T>& A, Factor factor) {
  Queue<Cuda> q(0);
  Matrix<T, Cuda> there = upload(q, A);
  Matrix<std::int64_t, Cuda> p(A.cols(), Pivots<Cuda>::columns), zero(1, 1);
  fill(q, std::int64_t(-1), zero.view());
  factor(q, there.view(), Pivots<Cuda>::in(p, zero));
  return {download(q, there), download(q, p), download(q, zero)(0, 0)};
}

/// As the panel of a plan.
template <class T>
Factored<T> as_panel(const Matrix<T>& A) {
  return factored(A, [](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
    LuSteps steps({.n = there.rows()});
    steps.panel({}, {0, there.cols()});
    const Plan plan{.m = there.rows(), .n = there.rows(), .lanes = four_lanes, .tasks = std::move(steps).tasks()};
    const Gemm<T, Cuda> gemm(*gemm_backends<Cuda>()[0]);
    const Plan lowered = lower(plan, capabilities_of<T>(q, plan.n, Recipe()));
    Buffers<T, Cuda> buffers(lowered);
    const Workpiece<T, Cuda> on{gemm, there, pivots, {}, buffers};
    for (const Task& task : lowered.tasks) perform(q, q, plan.method, task, on);
    q.finish();
  });
}

/// By the kernel for tall panels, at any height, and by the one that brings the columns behind up to date.
template <class T>
Factored<T> by_tall_panels(const Matrix<T>& A) {
  return factored(A, [](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
    const std::int64_t m = there.rows(), n = there.cols();
    Matrix<T, Cuda> packed_L11(PackedL11<T>::elements, 1);
    for (std::int64_t j = 0; j < n; j += tall_panel_columns) {
      const std::int64_t w = std::min<std::int64_t>(tall_panel_columns, n - j), behind = n - j - w;
      const auto L = there.block(j, j, m - j, w);
      const auto now = pivots.block(j, w);
      const PanelInPlace<T> panel{L, now, packed_L11.data()};
      factor_tall_in_place(q, panel);
      if (behind > 0) lookahead_update(q, panel, there.block(j, j + w, m - j, behind));
      interchange_rows(q, there.block(j, 0, m - j, j + w), now, Resource::pivots);
    }
    q.finish();
  });
}

/// ‖P A − L U‖ in one of `step` rows, and at the top, in units of roundoff; infinite where a multiplier is larger than one.
template <class T>
double residual(const Matrix<T>& before, const Factored<T>& f, std::int64_t step) {
  const std::int64_t m = before.rows(), n = before.cols();
  Matrix<T> A = rounded<T>(before);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t c = 0; c < n; ++c) std::swap(A(j, c), A(f.p(j, 0), c));
  const double unit = std::numeric_limits<T>::epsilon();
  double worst = 0;
  for (std::int64_t i = 0; i < m; i += i < n ? 1 : step)
    for (std::int64_t c = 0; c < n; ++c) {
      double sum = double(A(i, c));
      for (std::int64_t k = 0; k <= std::min(i, c); ++k) sum -= (k == i ? 1 : double(f.LU(i, k))) * double(f.LU(k, c));
      worst = larger(worst, std::abs(sum) / unit);
      if (i > c && !(std::abs(f.LU(i, c)) <= 1 + 2 * unit)) worst = std::numeric_limits<double>::infinity();
    }
  return worst;
}

template <class T>
class TallPanel : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(TallPanel, Elements);

TYPED_TEST(TallPanel, has_a_small_residual_on_Cuda) {
  using T = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {33, 31}, {300, 65}, {1025, 32}, {140000, 33}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const Matrix<T> A = random_matrix<T>(m, n);
    const auto f = by_tall_panels(A);
    EXPECT_LT(residual(A, f, 7), 200);
    EXPECT_EQ(f.zero, -1);
    EXPECT_TRUE(same_bits(f.LU, by_tall_panels(A).LU));
  }
}

TYPED_TEST(TallPanel, of_a_schedule_may_be_taller_than_registers_hold_on_Cuda) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{137500, 128}, {sizeof(T) == 4 ? 200000 : 150000, 70}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const Matrix<T> A = random_matrix<T>(m, n);
    EXPECT_LT(residual(A, as_panel(A), 31), 200);
  }
}

TYPED_TEST(TallPanel, takes_the_first_of_equals_and_NaN_before_all_on_Cuda) {
  using T = TypeParam;
  const Matrix<T> exact = rounded<T>(hadamard(128));
  const auto reference = reference_lu(rounded<long double>(exact));
  const auto f = by_tall_panels(exact);
  for (std::int64_t j = 0; j < 128; ++j) EXPECT_EQ(f.p(j, 0), reference.pivots[std::size_t(j)]) << j;
  for (std::int64_t c = 0; c < 128; ++c)
    for (std::int64_t i = 0; i < 128; ++i) ASSERT_EQ(f.LU(i, c), T(reference.values(i, c))) << i << ", " << c;

  Matrix<T> A = random_matrix<T>(5000, 32);
  A(4321, 0) = std::numeric_limits<T>::quiet_NaN(), A(17, 0) = std::numeric_limits<T>::infinity();
  EXPECT_EQ(by_tall_panels(A).p(0, 0), 4321);
}

TYPED_TEST(TallPanel, finds_zero_and_extreme_pivots_on_Cuda) {
  using T = TypeParam;
  Matrix<T> A = random_matrix<T>(3000, 40);
  for (std::int64_t i = 0; i < A.rows(); ++i) A(i, 3) = A(i, 36) = 0;
  const auto f = by_tall_panels(A);
  EXPECT_EQ(f.zero, 3);
  EXPECT_LT(residual(A, f, 1), 200);
  const T tiny = std::numeric_limits<T>::min() / 4;
  const Matrix<T> small =
      matrix_of<T>(2000, 1, [&, B = random_matrix<T>(2000, 1)](auto i, auto) { return B(i, 0) * tiny; });
  EXPECT_LT(residual(small, by_tall_panels(small), 1), 1);
}

/// Blocks of more panels than find room together: as where another kernel has the multiprocessors.
TYPED_TEST(TallPanel, whose_blocks_wait_for_each_other_in_vain_is_an_error_on_Cuda) {
  using T = TypeParam;
  Queue<Cuda> q(0), other(0);
  q.wait_limit()->ticks = 48;
  if (q.multiprocessors() >= most_grid_blocks) GTEST_SKIP() << "all blocks of a panel find room";
  if (widest_panel<T>(q) < most_panel_columns) GTEST_SKIP() << "blocks of this panel need more shared memory";
  const Matrix<T> A = random_matrix<T>(4 * 256 * most_grid_blocks, 32);
  Matrix<T, Cuda> there = upload(other, A);
  Matrix<std::int64_t, Cuda> p(A.cols(), Pivots<Cuda>::columns), zero(1, 1);
  const Pivots<Cuda> pivots = Pivots<Cuda>::in(p, zero);
  Matrix<T, Cuda> packed_L11(PackedL11<T>::elements, 1);
  launch_panel<T, PanelSizes<T>::four_rows, GridPivotSearch>(q, {there.view(), pivots, packed_L11.data()},
                                                             Blocks::independent);
  interchange_rows(q, there.view(), pivots, Resource::pivots);
  const std::string complaint = complaint_of<MachineError>([&] { q.finish(); });
  EXPECT_TRUE(says(complaint, "CUDA: the LU panel waited 50 ms for "));
  EXPECT_TRUE(says(complaint, " of 256"));
  EXPECT_EQ(
      complaint_of<MachineError>([&] { interchange_rows(q, there.view(), pivots, Resource::pivots), q.finish(); }),
      complaint);
  // Blocks that found room when others had left may have divided a column or two; the last ones show where the rows are.
  const Matrix<T> after = download(other, there);
  for (std::int64_t j = 16; j < A.cols(); ++j)
    EXPECT_EQ(std::memcmp(&after(0, j), &A(0, j), std::size_t(A.rows()) * sizeof(T)), 0) << "rows have gone elsewhere";
  EXPECT_LT(residual(random_matrix<T>(300, 65), by_tall_panels(random_matrix<T>(300, 65)), 1), 200)
      << "other queues go on";
}

/// Where a device has no room for 16 blocks of few rows, there are 8 of more: whatever the cluster, the panel is right.
TYPED_TEST(TallPanel, is_one_of_lower_height_in_clusters_of_any_size_on_Cuda) {
  using T = TypeParam;
  const auto by_cluster = [](const Matrix<T>& A, bool& is_one, auto launch) {
    return factored(A, [&](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
      Matrix<T, Cuda> packed_L11(PackedL11<T>::elements, 1);
      is_one = there.cols() <= widest_panel<T>(q) && launch(q, PanelInPlace<T>{there, pivots, packed_L11.data()});
      if (is_one) interchange_rows(q, there, pivots, Resource::pivots);
      q.finish();
    });
  };
  for (const int m : {200, 1000, 1900, 4000, 7900}) {
    const Matrix<T> A = random_matrix<T>(m, 64);
    const auto expect_right = [&](auto launch) {
      bool is_one = false;
      const auto f = by_cluster(A, is_one, launch);
      if (is_one) EXPECT_LT(residual(A, f, 7), 200) << m;
    };
    expect_right([](auto&&... a) { return launch_panel_as_cluster<T, PanelSizes<T>::small_blocks>(a...); });
    expect_right([](auto&&... a) { return launch_panel_as_cluster<T, PanelSizes<T>::one_row>(a...); });
    expect_right([](auto&&... a) { return launch_panel_as_cluster<T, PanelSizes<T>::two_rows>(a...); });
    expect_right([](auto&&... a) { return launch_panel_as_cluster<T, PanelSizes<T>::four_rows>(a...); });
  }
}

template <int rows, class T>
__global__ void __launch_bounds__(lookahead_threads, 2) solvers_begin_last(LookaheadProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char memory[];
  update_by_block<rows>(problem, gridDim.x - 1 - blockIdx.x, memory);
}

/// The last block of the grid is the last solver, and multipliers are between it and the other solvers.
template <int rows, class T>
__global__ void __launch_bounds__(lookahead_threads, 2) one_solver_begins_last(LookaheadProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char memory[];
  const unsigned last = gridDim.x - 1, solver = problem.solvers - 1;
  const unsigned block = blockIdx.x == last ? solver : blockIdx.x < solver ? blockIdx.x : blockIdx.x + 1;
  update_by_block<rows>(problem, block, memory);
}

/// A random panel of k columns, left in place, and n columns behind it, which `update` brings up to date.
template <class T, class Update>
auto updated(std::int64_t m, std::int64_t k, std::int64_t n, Update update) {
  return factored(random_matrix<T>(m, k + n), [&](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
    const auto L = there.columns(0, k);
    const auto now = pivots.block(0, k);
    Matrix<T, Cuda> packed_L11(PackedL11<T>::elements, 1);
    const PanelInPlace<T> panel{L, now, packed_L11.data()};
    factor_in_place(q, panel, Pivoting::partial);
    update(q, panel, there.columns(k, n));
    interchange_rows(q, L, now, Resource::pivots);
    Matrix<unsigned> counters(claims_of_lookahead + 1, 1);
    copy<unsigned>(q, MatrixView<unsigned, Cuda>(q.counter(), counters.rows(), 1, counters.rows()), counters.view());
    q.finish();
    for (std::int64_t i = 0; i < counters.rows(); ++i) EXPECT_EQ(counters(i, 0), 0u) << i;
  });
}

/// Multipliers fill the device, and some solvers cannot begin before one of them is done.
TYPED_TEST(TallPanel, columns_behind_it_do_not_depend_on_the_order_of_blocks_on_Cuda) {
  using T = TypeParam;
  constexpr int rows = 32, most_blocks = 2048 / lookahead_threads;  // of a multiprocessor
  const Queue<Cuda> q(0);
  const std::int64_t tiles = std::int64_t(q.multiprocessors()) * most_blocks;
  struct Shape {
    std::int64_t k, n;
  };
  for (const auto& [k, n] : {Shape{32, 64}, Shape{100, 40}, Shape{128, 128}}) {
    const std::int64_t m = k + rows * tiles;
    if (k > (m <= most_rows_in_registers(q) ? widest_panel<T>(q) : tall_panel_columns)) continue;
    const auto usual = updated<T>(m, k, n, [](auto& q, auto& panel, auto C) { lookahead_update(q, panel, C); });
    for (const auto kernel : {solvers_begin_last<rows, T>, one_solver_begins_last<rows, T>}) {
      const auto other = updated<T>(
          m, k, n, [&](auto& q, auto& panel, auto C) { launch_lookahead_update<rows>(q, panel, C, kernel); });
      EXPECT_TRUE(same_bits(usual.LU, other.LU)) << "k = " << k << ", n = " << n;
    }
  }
}

}  // namespace
}  // namespace lasolve::test
