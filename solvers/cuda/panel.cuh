// Panels on CUDA: cuSOLVER's, whose pivots and status become ours on the device.
#pragma once

#include <climits>

#include "core/by_type.hpp"
#include "core/cuda/check.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/lu.hpp"

namespace lasolve {

/// cuSOLVER counts pivots from 1, within the panel; `info` is the 1-based column of the first zero pivot, or 0.
inline __global__ void adopt_pivots(const int* ipiv, const int* info, Pivots<Cuda> pivots) {
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x;
  if (i < pivots.count()) pivots.p.data()[i] = pivots.start + ipiv[i] - 1;
  if (i == 0 && *info > 0 && *pivots.zero.data() < 0) *pivots.zero.data() = pivots.start + *info - 1;
}

/// P A = L U of a panel (m × nb, m ≥ nb).
template <class T>
void panel_lu(Queue<Cuda>& q, const GemmBackend<Cuda>&, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  const auto buffer_size = by_type<T>(cusolverDnDgetrf_bufferSize, cusolverDnSgetrf_bufferSize);
  const auto getrf = by_type<T>(cusolverDnDgetrf, cusolverDnSgetrf);
  const int m = int(A.rows()), n = int(A.cols()), ld = int(A.ld());
  int length = 0;
  CUDA_CHECK(buffer_size(q.solver(), m, n, A.data(), ld, &length));
  const std::int64_t integers = (n + 2) / 2 * 2;  // the pivots and the status, before the workspace
  const std::int64_t bytes = integers * std::int64_t(sizeof(int)) + length * std::int64_t(sizeof(T));
  char* scratch = q.scratch<char>(bytes, 1).data();
  int* ipiv = reinterpret_cast<int*>(scratch);
  T* workspace = reinterpret_cast<T*>(scratch + integers * sizeof(int));
  CUDA_CHECK(getrf(q.solver(), m, n, A.data(), ld, workspace, ipiv, ipiv + n));
  adopt_pivots<<<unsigned(n / 256 + 1), 256, 0, q.stream()>>>(ipiv, ipiv + n, pivots);
  CUDA_CHECK_LAUNCH();
}

/// The first minor that is not positive, from the diagonal itself: where it is the last of the block, cuSOLVER's `info`
/// is silent. One block; `info` is the 1-based order at which the factorization stopped, or 0.
template <class T>
__global__ void adopt_minor(MatrixView<const T, Cuda> L, const int* info, std::int64_t first, std::int64_t* bad_minor) {
  __shared__ int order;
  if (threadIdx.x == 0) order = *info > 0 ? *info : INT_MAX;
  __syncthreads();
  for (int i = threadIdx.x; i < L.rows(); i += blockDim.x)
    if (!(L.data()[i + i * L.ld()] > T(0))) atomicMin(&order, i + 1);
  __syncthreads();
  if (threadIdx.x == 0 && order != INT_MAX && *bad_minor < 0) *bad_minor = first + order;
}

/// A = L Lᵀ of a diagonal block, lower triangle.
template <class T>
void panel_cholesky(Queue<Cuda>& q, const GemmBackend<Cuda>&, MatrixView<T, Cuda> A, std::int64_t first,
                    MatrixView<std::int64_t, Cuda> bad_minor) {
  const auto buffer_size = by_type<T>(cusolverDnDpotrf_bufferSize, cusolverDnSpotrf_bufferSize);
  const auto potrf = by_type<T>(cusolverDnDpotrf, cusolverDnSpotrf);
  const int n = int(A.rows()), ld = int(A.ld());
  int length = 0;
  CUDA_CHECK(buffer_size(q.solver(), CUBLAS_FILL_MODE_LOWER, n, A.data(), ld, &length));
  T* workspace = q.scratch<T>(length + 1, 1).data();
  int* info = reinterpret_cast<int*>(workspace + length);
  CUDA_CHECK(potrf(q.solver(), CUBLAS_FILL_MODE_LOWER, n, A.data(), ld, workspace, length, info));
  adopt_minor<T><<<1, 256, 0, q.stream()>>>(A, info, first, bad_minor.data());
  CUDA_CHECK_LAUNCH();
}

}  // namespace lasolve
