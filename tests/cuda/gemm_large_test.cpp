// Products on CUDA of a size at which backends take other ways than in the conformance suite.
#include "lasolve/gemm.hpp"
//
#include "matrices.hpp"
#include "places.hpp"

namespace lasolve::test {
namespace {

/// Of small integers: no sum is rounded, in whatever order it is made.
template <class T>
void expect_exact_products(std::int64_t m, std::int64_t n, std::int64_t k) {
  Random random;
  const auto integers = [&](std::int64_t rows, std::int64_t cols) {
    return matrix_of<T>(rows, cols, [&](auto, auto) { return random.integer(8); });
  };
  const Matrix<T> A = integers(m, k), B = integers(k, n), C = integers(m, n);
  const auto expected = (as_eigen(C.view()) - as_eigen(A.view()) * as_eigen(B.view())).eval();
  Queue<Cuda> q(0);
  const Matrix<T, Cuda> dA = upload(q, A), dB = upload(q, B);
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    const auto& kernel = backend->in<precision_of<T>>();
    if (!kernel || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    Matrix<T, Cuda> dC = upload(q, C);
    kernel(q, T(-1), dA.view(), dB.view(), T(1), dC.view());
    const Matrix<T> result = download(q, dC);
    EXPECT_TRUE(as_eigen(result.view()) == expected) << backend->name;
  }
}

TEST(GemmOnCuda, is_exact_in_large_products_of_odd_sides) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  expect_exact_products<double>(1601, 1603, 1605);
  expect_exact_products<double>(1602, 1603, 1606);  // columns at multiples of 16 bytes
  expect_exact_products<float>(1601, 1603, 1605);
}

}  // namespace
}  // namespace lasolve::test
