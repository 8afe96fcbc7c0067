// Narrow products within a Cholesky panel on CUDA, the kernel itself.
#include "lasolve/gemm.hpp"
#include "solvers/cholesky/cuda/narrow_update.cuh"
//
#include "devices.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

constexpr std::int64_t above = 256;  // rows of L over those at hand

template <class T>
struct NarrowProduct {
  std::int64_t m, n, k;
  bool apart;  // whether L1 are rows over L, not its first ones
  Matrix<T> L = rounded<T>(random_matrix(above + m, k, 1));
  Matrix<T> before = rounded<T>(random_matrix(m, n, 2));

  std::int64_t first() const { return apart ? 0 : above; }  // of the rows of L1
  /// The same with leading dimensions that the kernel takes.
  static Matrix<T> spaced(const Matrix<T>& A) {
    Matrix<T> wide(A.rows(), A.cols(), (A.rows() + 7) / 4 * 4);
    std::fill_n(wide.data(), wide.ld() * wide.cols(), T(7));
    for (std::int64_t j = 0; j < A.cols(); ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i) wide(i, j) = A(i, j);
    return wide;
  }
  /// C ← C − L L1ᵀ.
  Matrix<T> on_device() const {
    Queue<Cuda> q(0);
    Matrix<T, Cuda> there = upload(q, spaced(L)), C = upload(q, spaced(before));
    EXPECT_TRUE(
        launch_narrow_update<T>(q, there.view().block(above, 0, m, k), there.view().block(first(), 0, n, k), C.view()));
    return download(q, C);
  }
};

template <class T>
class CholeskyUpdate : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(CholeskyUpdate, Elements);

/// Sums are made in fp64, so that in fp32 only the result is rounded.
TYPED_TEST(CholeskyUpdate, has_a_small_error_on_Cuda) {
  using T = TypeParam;
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const double unit = std::numeric_limits<T>::epsilon() / 2, sums = std::numeric_limits<double>::epsilon() / 2;
  for (bool apart : {false, true})
    for (const auto& [m, n, k] : {std::tuple{32, 32, 32},
                                  {1, 1, 64},
                                  {131, 131, 96},
                                  {333, 128, 128},
                                  {259, 77, 32},
                                  {1030, 256, 256},
                                  {515, 65, 256},
                                  {66, 2, 128}}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << ", k = " << k << (apart ? ", apart" : ""));
      const NarrowProduct<T> p{m, n, k, apart};
      const Matrix<T> C = p.on_device();
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = apart ? 0 : j; i < m; ++i) {
          double exact = double(p.before(i, j)), size = std::abs(exact);
          for (std::int64_t l = 0; l < k; ++l) {
            const double one = double(p.L(above + i, l)) * double(p.L(p.first() + j, l));
            exact -= one, size += std::abs(one);
          }
          ASSERT_NEAR(double(C(i, j)), exact, 1.01 * unit * std::abs(exact) + 2 * double(k) * sums * size);
        }
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = m; i < C.ld(); ++i) ASSERT_EQ(C.data()[i + j * C.ld()], T(7));
    }
}

TYPED_TEST(CholeskyUpdate, carries_what_is_not_finite_to_its_row_and_column_on_Cuda) {
  using T = TypeParam;
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (bool apart : {false, true})
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      NarrowProduct<T> p{200, 64, 64, apart};
      const Matrix<T> good = p.on_device();
      p.L(above + 41, 50) = bad;
      const Matrix<T> C = p.on_device();
      for (std::int64_t j = 0; j < p.n; ++j)
        for (std::int64_t i = apart ? 0 : j; i < p.m; ++i) {
          if (i == 41 || (!apart && j == 41))
            ASSERT_FALSE(std::isfinite(C(i, j))) << i << ", " << j;
          else
            ASSERT_EQ(C(i, j), good(i, j)) << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace lasolve::test
