// LU without interchanges of a block of 32 × 32: one warp, a row a lane, in registers.
#include "core/cuda/launch.cuh"
#include "solvers/lu_nopivot/method.hpp"

namespace lasolve {

namespace {

template <class T>
__global__ void __launch_bounds__(32) factor_block(MatrixView<T, Cuda> A, long long first, long long* status) {
  const int n = int(A.cols()), lane = int(threadIdx.x);
  T row[block_without_pivots];  // A(lane, :), and of no row that of the identity matrix
#pragma unroll
  for (int j = 0; j < block_without_pivots; ++j)
    row[j] = lane < n && j < n ? A.data()[lane + j * A.ld()] : T(lane == j);
#pragma unroll
  for (int k = 0; k < block_without_pivots; ++k) {
    const T pivot = __shfl_sync(~0u, row[k], k);
    if (pivot == T(0) && lane == 0 && *status < 0) *status = first + k;
    if (lane > k) row[k] /= pivot;
#pragma unroll
    for (int j = k + 1; j < block_without_pivots; ++j) {
      const T u = __shfl_sync(~0u, row[j], k);
      if (lane > k) row[j] -= row[k] * u;
    }
  }
#pragma unroll
  for (int j = 0; j < block_without_pivots; ++j)
    if (lane < n && j < n) A.data()[lane + j * A.ld()] = row[j];
}

}  // namespace

template <class T>
void factor_without_pivots(Queue<Cuda>& q, MatrixView<T, Cuda> A, std::int64_t first,
                           MatrixView<std::int64_t, Cuda> status) {
  if (!A.empty()) launch(q, factor_block<T>, 1, 32, A, first, reinterpret_cast<long long*>(status.data()));
}

#define LASOLVE_INSTANTIATE(T) \
  template void factor_without_pivots(Queue<Cuda>&, MatrixView<T, Cuda>, std::int64_t, MatrixView<std::int64_t, Cuda>);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
