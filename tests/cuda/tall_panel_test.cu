// Panels of LU that are taller than registers hold, the kernel itself.
#include "lasolve/gemm.hpp"
#include "solvers/cuda/panel.cuh"
#include "solvers/cuda/triangle.cuh"
//
#include "matrices.hpp"
#include "places.hpp"
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

/// P A = L U by `factor`, which also exchanges the rows.
template <class T, class Factor>
Factored<T> factored(const Matrix<T>& A, Factor factor) {
  Queue<Cuda> q(0);
  Matrix<T, Cuda> there = upload(q, A);
  Matrix<std::int64_t, Cuda> p(A.cols(), Pivots<Cuda>::columns), zero(1, 1);
  fill(q, std::int64_t(-1), zero.view());
  std::vector<Exchanges> known;
  factor(q, there.view(), Pivots<Cuda>{p, zero, &known});
  return {download(q, there), download(q, p), download(q, zero)(0, 0)};
}

/// As panels of the schedule.
template <class T>
Factored<T> as_panel(const Matrix<T>& A) {
  return factored(A, [](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
    if (!panel_lu(q, *gemm_backends<Cuda>()[0], there, pivots)) swap_rows(q, there, pivots);
  });
}

/// By the kernel for tall panels, at any height, and by the one that brings the columns behind up to date.
template <class T>
Factored<T> by_tall_panels(const Matrix<T>& A) {
  return factored(A, [](Queue<Cuda>& q, MatrixView<T, Cuda> there, Pivots<Cuda> pivots) {
    const std::int64_t m = there.rows(), n = there.cols();
    for (std::int64_t j = 0; j < n; j += tall_panel_columns) {
      const std::int64_t w = std::min<std::int64_t>(tall_panel_columns, n - j), behind = n - j - w;
      const auto L = there.block(j, j, m - j, w);
      const auto now = pivots.block(j, w);
      now.known->push_back({j, w, false});
      factor_tall_in_place(q, L, now);
      ASSERT_TRUE(behind == 0 || eliminate_at_once(q, L, now, there.block(j, j + w, m - j, behind)));
      swap_rows(q, there.block(j, 0, m - j, j + w), now);
    }
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

TYPED_TEST(TallPanel, elects_the_first_of_equals_and_NaN_before_all_on_Cuda) {
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

}  // namespace
}  // namespace lasolve::test
