// Products on CUDA beside another kernel on the same multiprocessors: as in LU, where rows are interchanged while a trailing
// matrix is updated.
#include "core/cuda/launch.cuh"
#include "lasolve/names.hpp"
//
#include "devices.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

/// Blocks so small that they find a place beside those of a product, whose accesses keep the memory pipe busy.
static __global__ void __launch_bounds__(128) interchange_rows(MatrixView<double, Cuda> X) {
  constexpr int columns = 4;
  double* const at = X.data() + std::int64_t(blockIdx.x) * columns * X.ld();
  const std::int64_t i = threadIdx.x, there = (i * 997 + 128) % X.rows();
  double comes[columns], goes[columns];
#pragma unroll
  for (int j = 0; j < columns; ++j) comes[j] = at[there + j * X.ld()], goes[j] = at[i + j * X.ld()];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < columns; ++j) at[i + j * X.ld()] = comes[j], at[there + j * X.ld()] = goes[j];
}

template <class T, class In>
Matrix<In, Cuda> random_there(Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::uint64_t seed) {
  return upload(q, rounded<In>(random_matrix<T>(m, n, seed)));
}

template <class T, class In, Precision P>
void expect_same_bits(const GemmKernel<P, Cuda>& kernel) {
  constexpr std::int64_t m = 1024, n = 1024, k = 256;
  Queue<Cuda> q(0), other(0, 1);
  const Matrix<In, Cuda> A = random_there<T, In>(q, m, k, 1), B = random_there<T, In>(q, k, n, 2);
  const Matrix<T, Cuda> before = random_there<T, T>(q, m, n, 3);
  Matrix<double, Cuda> X(1024, 1024);
  CUDA_CHECK(cudaMemsetAsync(X.data(), 0, X.bytes(), other.stream()));
  const auto product = [&](bool alone) {
    Matrix<T, Cuda> C(m, n, before.ld());
    CUDA_CHECK(cudaMemcpyAsync(C.data(), before.data(), before.bytes(), cudaMemcpyDeviceToDevice, q.stream()));
    q.finish();
    kernel(q, T(-1), A.view(), B.view(), T(1), C.view());
    for (int i = 0; i < 40 && !alone; ++i) {
      launch(other, interchange_rows, unsigned(X.cols() / 4), 128, X.view());
    }
    other.finish();
    return download(q, C);
  };
  const Matrix<T> alone = product(true);
  for (int i = 0; i < 5; ++i) {
    const Matrix<T> beside = product(false);
    ASSERT_TRUE(as_eigen(alone.view()) == as_eigen(beside.view()));
  }
}

/// Same input, same bits, whatever else runs.
TEST(GemmOnCuda, gives_the_same_bits_beside_other_work) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    for_each_precision([&](auto P) {
      SCOPED_TRACE(backend->name + std::string(" ") + name_of(P()));
      using A = Arithmetic<P>;
      if (const auto& kernel = backend->template in<P>())
        expect_same_bits<typename A::Result, typename A::Operand>(kernel);
    });
  }
}

}  // namespace
}  // namespace lasolve::test
