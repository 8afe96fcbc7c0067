// Whether a matrix may be positive definite, on CUDA.
#pragma once

#include "core/symmetric.hpp"
#include "solvers/devices/cuda/messages.cuh"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/matrix_facts.hpp"

namespace lasolve {

/// Whether elements (i, j) and (j, i) of A, a and b, differ by more than roundoff.
template <class T>
__device__ bool are_halves_different(const MatrixView<const T, Cuda>& A, std::int64_t i, std::int64_t j, T a, T b) {
  return a != b && !equal_but_for_roundoff(a, b, A.data()[i + i * A.ld()], A.data()[j + j * A.ld()]);
}

/// no[block] ← whether one of its 32 × 32 tiles of A differs from its mirror image, or has an entry of the diagonal that is not
/// positive. The mirrored reads find their lines in L1.
template <class T>
__global__ void compare_with_mirror(MatrixView<const T, Cuda> A, std::int64_t tiles, int* no) {
  bool differs = false;
  for (std::int64_t tile = blockIdx.x; tile < tiles * tiles && !differs; tile += gridDim.x) {
    const std::int64_t i = tile % tiles * 32 + threadIdx.x;
    for (std::int64_t y = threadIdx.y; y < 32; y += blockDim.y) {
      const std::int64_t j = tile / tiles * 32 + y;
      if (i < j || i >= A.rows()) continue;
      const T a = A.data()[i + j * A.ld()];
      differs = differs || (i == j ? !(a > T(0)) : are_halves_different(A, i, j, a, A.data()[j + i * A.ld()]));
    }
  }
  const int found = __syncthreads_or(differs);
  if (threadIdx.x == 0 && threadIdx.y == 0) no[blockIdx.x] = found;
}

/// Whether A = Aᵀ but for roundoff, with a positive diagonal.
template <class T>
Fetched<bool> may_be_positive_definite(Queue<Cuda>& q, MatrixView<const T, Cuda> A) {
  if (A.empty()) return true;
  const std::int64_t tiles = ceil_div(A.rows(), 32), blocks = std::min<std::int64_t>(tiles * tiles, 1024);
  const Results<int> no(q, blocks);
  launch(q, compare_with_mirror<T>, unsigned(blocks), dim3(32, 8), A, tiles, no.data());
  return no.fetched(
      [](const std::vector<int>& no) { return std::all_of(no.begin(), no.end(), [](int x) { return x == 0; }); });
}

/// 32 rows a block: Y ← X; sums[i] ← Σⱼ |x(i, j)|; and no[block] ← whether X differs from its mirror image there, or an entry of the
/// diagonal is not positive. The last block to end writes −1 to *status, or 0 where one has found that. *ended is zero before and after.
template <class From, class To>
__global__ void __launch_bounds__(1024) measure_rows(MatrixView<const From, Cuda> X, MatrixView<To, Cuda> Y,
                                                     double* sums, int* no, std::int64_t* status, unsigned* ended) {
  constexpr unsigned found_here = 1u << 16;
  launch_dependents();
  unsigned differs = 0;
  sum_rows<double>(
      false, X.rows(), X.cols(),
      [&](std::int64_t i, std::int64_t j, double& sum) {
        const From x = __ldg(X.data() + i + j * X.ld()), mirrored = __ldg(X.data() + j + i * X.ld());
        if (differs == 0) differs = are_halves_different(X, i, j, x, mirrored);
        differs |= unsigned(i == j) & unsigned(!(x > From(0)));
        Y.data()[i + j * Y.ld()] = To(x);
        sum += fabs(double(x));
      },
      [&](std::int64_t i, double sum) { sums[i] = sum; });
  const int found = __syncthreads_or(int(differs));
  if (threadIdx.x != 0) return;
  no[blockIdx.x] = found != 0;
  const unsigned before = atomicAdd(ended, 1 + (found ? found_here : 0));
  if (before % found_here + 1 < gridDim.x) return;
  *status = found || before >= found_here ? 0 : -1;
  *ended = 0;
}

/// Y ← X, what is asked of X before, and whether a Cholesky of it would be in vain.
template <class From, class To>
Fetched<MatrixFacts> copy_and_measure(Queue<Cuda>& q, MatrixView<const From, Cuda> X, MatrixView<To, Cuda> Y,
                                      MatrixView<std::int64_t, Cuda> status) {
  const std::int64_t blocks = ceil_div(X.rows(), 32);
  if (blocks == 0 || blocks >= (1 << 15)) return copy_and_measure<From, To, Cuda>(q, X, Y, status);
  const Results<double> sums(q, X.rows());
  const Results<int> no(q, blocks);
  launch(q, measure_rows<From, To>, dim3(unsigned(blocks)), dim3(1024), X, Y, sums.data(), no.data(), status.data(),
         q.counter() + counter_of_facts);
  return Fetched<MatrixFacts>::later([sums = sums.fetched(), no = no.fetched()]() mutable {
    return MatrixFacts{largest(*no) == 0, std::move(*sums)};
  });
}

/// Y ← X, and *status ← −1.
template <class From, class To>
void copy_to_factor(Queue<Cuda>& q, MatrixView<const From, Cuda> X, MatrixView<To, Cuda> Y,
                    MatrixView<std::int64_t, Cuda> status) {
  if (Y.empty()) return fill(q, std::int64_t(-1), status);
  for_each_element(q, Y, [X, status] __device__(To & y, std::int64_t i, std::int64_t j) {
    y = To(X.data()[i + j * X.ld()]);
    if (i == 0 && j == 0) *status.data() = -1;
  });
}

}  // namespace lasolve
