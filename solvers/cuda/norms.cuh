// Norms and residuals on CUDA. Sums are made in a fixed order, so that the same input gives the same bits.
#pragma once

#include <cmath>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/cuda/blas.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/cuda/transpose.cuh"
#include "lasolve/gemm.hpp"
#include "solvers/largest.hpp"

namespace lasolve {

template <class T>
std::vector<T> fetch_all(Queue<Cuda>& q, const T* device, std::int64_t count) {
  std::vector<T> host(std::size_t(count), T{});
  CUDA_CHECK(cudaMemcpyAsync(host.data(), device, std::size_t(count) * sizeof(T), cudaMemcpyDeviceToHost, q.stream()));
  CUDA_CHECK(cudaStreamSynchronize(q.stream()));
  return host;
}

/// Element (0, 0), once the work before it is done.
template <class T>
T fetch(Queue<Cuda>& q, MatrixView<T, Cuda> X) {
  return fetch_all(q, X.data(), 1)[0];
}

/// R ← B − A X. Not through the backend that made X, which would then vouch for itself.
template <class T>
void residual(Queue<Cuda>& q, Operand<T, Cuda> A, MatrixView<const T, Cuda> X, MatrixView<const T, Cuda> B,
              MatrixView<T, Cuda> R) {
  convert(q, B, R);
  if (!R.empty()) cublas_gemm<T>(q, T(-1), A, X, T(1), R);
}

constexpr int row_sum_parts = 64;

/// partial (rows × parts): thread i of part p sums |A(i, j)| over its share of the columns.
template <class T>
__global__ void partial_row_sums(Operand<T, Cuda> A, MatrixView<double, Cuda> partial) {
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x, p = blockIdx.y;
  if (i >= A.rows()) return;
  const std::int64_t begin = A.cols() * p / row_sum_parts, end = A.cols() * (p + 1) / row_sum_parts;
  double sum = 0;
  for (std::int64_t j = begin; j < end; ++j) sum += fabs(double(A.data()[i * A.row_stride() + j * A.col_stride()]));
  partial.data()[i + p * partial.ld()] = sum;
}

/// Column 0 of partial ← the sums of its rows.
inline __global__ void add_parts(MatrixView<double, Cuda> partial) {
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x;
  if (i >= partial.rows()) return;
  double sum = 0;
  for (std::int64_t p = 0; p < partial.cols(); ++p) sum += partial.data()[i + p * partial.ld()];
  partial.data()[i] = sum;
}

/// The sum of the magnitudes in each row.
template <class T>
std::vector<double> row_sums_of_magnitudes(Queue<Cuda>& q, Operand<T, Cuda> A) {
  const std::int64_t m = A.rows();
  if (m == 0) return {};
  const auto partial = q.scratch<double>(m, row_sum_parts);
  const auto blocks = unsigned(ceil_div(m, threads_a_block));
  partial_row_sums<T><<<dim3(blocks, row_sum_parts), threads_a_block, 0, q.stream()>>>(A, partial);
  CUDA_CHECK_LAUNCH();
  add_parts<<<blocks, threads_a_block, 0, q.stream()>>>(partial);
  CUDA_CHECK_LAUNCH();
  return fetch_all(q, partial.data(), m);
}

/// One block a column.
template <class T>
__global__ void column_maxima(MatrixView<const T, Cuda> X, double* maxima) {
  __shared__ double best[threads_a_block];
  const T* x = X.data() + std::int64_t(blockIdx.x) * X.ld();
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < X.rows(); i += threads_a_block) mine = larger(mine, fabs(double(x[i])));
  best[threadIdx.x] = mine;
  for (unsigned half = threads_a_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) best[threadIdx.x] = larger(best[threadIdx.x], best[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = best[0];
}

/// The largest magnitude in each column; NaN where there is one.
template <class T>
std::vector<double> column_norms(Queue<Cuda>& q, MatrixView<const T, Cuda> X) {
  if (X.cols() == 0) return {};
  const auto maxima = q.scratch<double>(X.cols(), 1);
  column_maxima<T><<<unsigned(X.cols()), threads_a_block, 0, q.stream()>>>(X, maxima.data());
  CUDA_CHECK_LAUNCH();
  return fetch_all(q, maxima.data(), X.cols());
}

/// Sets *no unless this 32 × 32 tile of A equals its mirror image and its part of the diagonal is positive. The mirrored
/// reads find their lines in L1.
template <class T>
__global__ void compare_with_mirror(MatrixView<const T, Cuda> A, std::int64_t tiles, int* no) {
  const std::int64_t i = blockIdx.x % tiles * 32 + threadIdx.x;
  for (std::int64_t y = threadIdx.y; y < 32; y += blockDim.y) {
    const std::int64_t j = blockIdx.x / tiles * 32 + y;
    if (i < j || i >= A.rows()) continue;
    const T a = A.data()[i + j * A.ld()];
    if (i == j ? !(a > T(0)) : a != A.data()[j + i * A.ld()]) *no = 1;
  }
}

/// Whether A = Aᵀ, bit for bit, with a positive diagonal.
template <class T>
bool may_be_positive_definite(Queue<Cuda>& q, MatrixView<const T, Cuda> A) {
  if (A.empty()) return true;
  const auto no = q.scratch<int>(1, 1);
  fill(q, 0, no);
  const std::int64_t tiles = (A.rows() + 31) / 32;
  compare_with_mirror<T><<<unsigned(tiles * tiles), dim3(32, 8), 0, q.stream()>>>(A, tiles, no.data());
  CUDA_CHECK_LAUNCH();
  return fetch(q, no) == 0;
}

/// X(i, j) ← X(j, i) for i > j. X: n × n.
template <class T>
void mirror_upper(Queue<Cuda>& q, MatrixView<T, Cuda> X) {
  transpose<true, T>(q, X, X);
}

}  // namespace lasolve
