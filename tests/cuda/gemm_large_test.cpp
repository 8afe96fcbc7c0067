// Products on CUDA that are so large that a backend may do them in another way than those of gemm_test.
#include "lasolve/gemm.hpp"
//
#include "matrices.hpp"
#include "places.hpp"

namespace lasolve::test {
namespace {

/// C ← −A·Bᵀ + β·C as in the bulk of a Cholesky, of integers so small that no sum is rounded.
TEST(GemmOnCuda, is_exact_for_integers_in_large_products_of_few_columns) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  constexpr std::int64_t m = 2301, n = 256, k = 2600;
  Queue<Cuda> q(0);
  Random random;
  const auto integers = [&](std::int64_t rows, std::int64_t columns) {
    return matrix_of<float>(rows, columns, [&](auto, auto) { return random.integer(7); });
  };
  const Matrix<float> A = integers(m, k), B = integers(n, k), C = integers(m, n);
  const Matrix<float, Cuda> dA = upload(q, A), dB = upload(q, B);
  Matrix<float> product(m, n);
  const auto nothing = matrix_of<float>(m, n, [](auto, auto) { return NAN; });
  as_eigen(product.view()).noalias() = as_eigen(A.view()) * as_eigen(B.view()).transpose();
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (!backend->f32 || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    SCOPED_TRACE(backend->name);
    for (const float beta : {0.0f, 1.0f}) {
      Matrix<float, Cuda> dC = upload(q, beta == 0 ? nothing : C);
      backend->f32(q, -1.0f, dA.view(), transposed(dB.view()), beta, dC.view());
      q.finish();
      const Matrix<float> result = download(q, dC);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          ASSERT_EQ(result(i, j), (beta == 0 ? 0 : C(i, j)) - product(i, j)) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace lasolve::test
