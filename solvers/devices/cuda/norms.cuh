// Norms and residuals on CUDA. Sums are made in a fixed order, so that the same input gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/cuda/blas.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/cuda/results.hpp"
#include "core/cuda/transpose.cuh"
#include "core/settled.hpp"
#include "core/symmetric.hpp"
#include "core/transfer.hpp"
#include "solvers/ending.hpp"
#include "solvers/matrix_facts.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

/// Y ← 2^exponent X; Y may be X.
template <class T>
void scale(Queue<Cuda>& q, int exponent, MatrixView<const T, Cuda> X, MatrixView<T, Cuda> Y) {
  for_each_element(q, Y, [X, exponent] __device__(T & y, std::int64_t i, std::int64_t j) {
    y = T(scalbn(X.data()[i + j * X.ld()], exponent));
  });
}

/// Y(i, j) ← 2^(exponent + rᵢ + cⱼ) X(i, j), where an empty column of exponents is zeros; Y may be X.
template <class From, class To>
void scale_to(Queue<Cuda>& q, int exponent, MatrixView<const std::int64_t, Cuda> rows,
              MatrixView<const std::int64_t, Cuda> columns, MatrixView<const From, Cuda> X, MatrixView<To, Cuda> Y) {
  const std::int64_t *const of_rows = rows.data(), *const of_columns = columns.data();  // null where they are empty
  for_each_element(q, Y, [X, exponent, of_rows, of_columns] __device__(To & y, std::int64_t i, std::int64_t j) {
    const std::int64_t all = exponent + (of_rows ? of_rows[i] : 0) + (of_columns ? of_columns[j] : 0);
    const From x = X.data()[i + j * X.ld()];
    if constexpr (sizeof(To) > sizeof(From))  // in the wider of both, which has the exponents
      y = scalbn(To(x), int(all));
    else
      y = To(scalbn(x, int(all)));
  });
}

template <class T>
__device__ T entry(const Operand<T, Cuda>& A, std::int64_t i, std::int64_t j) {
  return A.data()[i * A.row_stride() + j * A.col_stride()];
}
template <class T>
__device__ T entry(const Symmetric<T, Cuda>& A, std::int64_t i, std::int64_t j) {
  return i >= j ? entry(A.half, i, j) : entry(A.half, j, i);
}

/// Whether a row stands together in memory, so that a warp reads along it.
template <class T>
__host__ __device__ bool has_contiguous_rows(const Operand<T, Cuda>& A) {
  return A.col_stride() == 1 && A.row_stride() != 1;
}
template <class T>
__host__ __device__ bool has_contiguous_rows(const Symmetric<T, Cuda>&) {
  return false;
}

/// By a block of 1024 threads, for 32 rows: add_to(i, k, sum) adds what column k has for row i, and put(i, sum) gets all of a row.
/// Each row has 32 sums, of every 32nd column. Those of one column are a warp's, or those of one row where rows are contiguous.
template <class T, class AddTo, class Put>
__device__ void sum_rows(bool contiguous_rows, std::int64_t rows, std::int64_t columns, AddTo add_to, Put put) {
  constexpr int parts = 32;
  __shared__ T sums[parts][32 + 1];
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int row = contiguous_rows ? warp : lane, part = contiguous_rows ? lane : warp;
  const std::int64_t first = std::int64_t(blockIdx.x) * 32;
  T sum{};
  if (first + row < rows)
#pragma unroll 4
    for (std::int64_t k = part; k < columns; k += parts) add_to(first + row, k, sum);
  sums[part][row] = sum;
  __syncthreads();
  if (warp != 0 || first + lane >= rows) return;
  sum = sums[0][lane];
#pragma unroll 8
  for (int p = 1; p < parts; ++p) sum += sums[p][lane];
  put(first + lane, sum);
}

/// R ← B − A X, for 32 rows of a column a block. `maxima`, unless null, for a square A: the largest magnitudes of B, X and R there,
/// blocks × columns × 3.
template <class T, class AnyMatrix>
__global__ void __launch_bounds__(1024)
    residual_of_rows(AnyMatrix A, MatrixView<const T, Cuda> X, MatrixView<const T, Cuda> B, MatrixView<T, Cuda> R,
                     double* maxima) {
  wait_for_prerequisites();
  const std::int64_t j = blockIdx.y;
  const T* const x = X.data() + j * X.ld();
  double most[3] = {};
  sum_rows<T>(
      has_contiguous_rows(A), A.rows(), A.cols(),
      [&](std::int64_t i, std::int64_t k, T& sum) { sum = fma(entry(A, i, k), x[k], sum); },
      [&](std::int64_t i, T sum) {
        const T b = B.data()[i + j * B.ld()], r = b - sum;
        R.data()[i + j * R.ld()] = r;
        if (maxima) most[0] = fabs(double(b)), most[1] = fabs(double(x[i])), most[2] = fabs(double(r));
      });
  if (!maxima || threadIdx.x >= 32) return;
  for (int which = 0; which < 3; ++which) {
    for (int half = 16; half > 0; half /= 2) most[which] = larger(most[which], __shfl_xor_sync(~0u, most[which], half));
    if (threadIdx.x == 0) maxima[(which * gridDim.y + j) * gridDim.x + blockIdx.x] = most[which];
  }
}
/// Whether one such kernel is faster than a product.
template <class AnyMatrix>
bool is_by_rows(const Queue<Cuda>& q, const AnyMatrix& A, std::int64_t nrhs) {
  const Tuning& t = q.tuning();
  return std::max(A.rows(), A.cols()) <= t.one_kernel_checks_order && nrhs <= t.solve_few_rhs;
}
template <class T, class AnyMatrix>
void launch_residual_of_rows(Queue<Cuda>& q, const AnyMatrix& A, MatrixView<const T, Cuda> X,
                             MatrixView<const T, Cuda> B, MatrixView<T, Cuda> R, double* maxima) {
  launch(q, residual_of_rows<T, AnyMatrix>, Blocks::dependent,
         dim3(unsigned(ceil_div(A.rows(), 32)), unsigned(R.cols())), 1024, 0, A, X, B, R, maxima);
}

/// R ← B − A X for an Operand or a Symmetric A. R may be B. Not through the backend that made X, which would then vouch for itself.
template <class T, OnOneDevice AnyMatrix>
void residual(Queue<Cuda>& q, const AnyMatrix& A, MatrixView<const T, Cuda> X, MatrixView<const T, Cuda> B,
              MatrixView<T, Cuda> R) {
  if (R.empty()) return;
  if (is_by_rows(q, A, R.cols())) return launch_residual_of_rows<T>(q, A, X, B, R, nullptr);
  convert(q, B, R);
  cublas_gemm<T>(q, T(-1), A, X, T(1), R);
}

/// sums[i] ← Σⱼ scale |A(i, j)|, for 32 rows a block.
template <class AnyMatrix, class Weight>
__global__ void __launch_bounds__(1024) magnitudes_of_rows(AnyMatrix A, Weight weight, double* sums) {
  sum_rows<double>(
      has_contiguous_rows(A), A.rows(), A.cols(),
      [&](std::int64_t i, std::int64_t k, double& sum) { sum += weight(k) * fabs(double(entry(A, i, k))); },
      [&](std::int64_t i, double sum) { sums[i] = sum; });
}

constexpr int row_sum_parts = 64;

/// partial (rows × parts): thread i of part p sums |A(i, j)| over its share of the columns.
template <class AnyMatrix, class Weight>
__global__ void partial_row_sums(AnyMatrix A, Weight weight, MatrixView<double, Cuda> partial) {
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x, p = blockIdx.y;
  if (i >= A.rows()) return;
  const std::int64_t begin = A.cols() * p / row_sum_parts, end = A.cols() * (p + 1) / row_sum_parts;
  double sum = 0;
  for (std::int64_t j = begin; j < end; ++j) sum += weight(j) * fabs(double(entry(A, i, j)));
  partial.data()[i + p * partial.ld()] = sum;
}

/// sums[i] ← the sum of row i.
inline __global__ void add_parts(MatrixView<double, Cuda> partial, double* sums) {
  const std::int64_t i = threadIdx.x + std::int64_t(blockIdx.x) * blockDim.x;
  if (i >= partial.rows()) return;
  double sum = 0;
  for (std::int64_t p = 0; p < partial.cols(); ++p) sum += partial.data()[i + p * partial.ld()];
  sums[i] = sum;
}

/// The weight of all columns, or of each.
struct OneWeight {
  double its;
  __device__ double operator()(std::int64_t) const { return its; }
};
struct Weights {
  const double* of;
  __device__ double operator()(std::int64_t j) const { return of[j]; }
};

/// Σⱼ |aᵢⱼ| wⱼ of each row of an Operand or a Symmetric.
template <class AnyMatrix, class Weight>
Fetched<std::vector<double>> weighted_row_sums(Queue<Cuda>& q, const AnyMatrix& A, Weight weight) {
  const std::int64_t m = A.rows();
  if (m == 0) return std::vector<double>();
  const Results<double> sums(q, m);
  if (has_contiguous_rows(A) || std::max(m, A.cols()) <= q.tuning().one_kernel_checks_order) {
    launch(q, magnitudes_of_rows<AnyMatrix, Weight>, unsigned(ceil_div(m, 32)), 1024, A, weight, sums.data());
    return sums.fetched();
  }
  const auto partial = q.scratch<double>(m, row_sum_parts);
  const auto blocks = unsigned(ceil_div(m, threads_a_block));
  launch(q, partial_row_sums<AnyMatrix, Weight>, dim3(blocks, row_sum_parts), threads_a_block, A, weight, partial);
  launch(q, add_parts, blocks, threads_a_block, partial, sums.data());
  return sums.fetched();
}

/// The sum of the magnitudes in each row, times a power of two with which it does not overflow, or with a weight for each column.
template <OnOneDevice AnyMatrix>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cuda>& q, const AnyMatrix& A, double scale) {
  return weighted_row_sums(q, A, OneWeight{scale});
}
template <OnOneDevice AnyMatrix>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cuda>& q, const AnyMatrix& A,
                                                    const std::vector<double>& weights) {
  const auto n = std::int64_t(weights.size());
  Matrix<double, Cuda> there(n, 1);
  const Settled settled(q);
  copy<double>(q, MatrixView<const double>(weights.data(), n, 1, std::max<std::int64_t>(1, n)), there.view());
  auto sums = weighted_row_sums(q, A, Weights{there.data()});
  return *sums;  // while the weights are there
}

/// Some matrices of the same shape.
template <class T, std::size_t count>
struct Matrices {
  MatrixView<const T, Cuda> of[count];
};

/// One block a column of one matrix: maxima is columns × matrices.
template <class T, std::size_t count>
__global__ void column_maxima(Matrices<T, count> all, double* maxima) {
  __shared__ double best[threads_a_block];
  const MatrixView<const T, Cuda> X = all.of[blockIdx.y];
  const T* x = X.data() + std::int64_t(blockIdx.x) * X.ld();
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < X.rows(); i += threads_a_block) mine = larger(mine, fabs(double(x[i])));
  best[threadIdx.x] = mine;
  for (unsigned half = threads_a_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) best[threadIdx.x] = larger(best[threadIdx.x], best[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) maxima[blockIdx.x + blockIdx.y * gridDim.x] = best[0];
}

/// The largest magnitude in each column of X, then in those of others of its shape; NaN where there is one.
template <class T, class... Others>
Fetched<std::vector<double>> column_norms(Queue<Cuda>& q, MatrixView<const T, Cuda> X, Others... others) {
  constexpr std::size_t count = 1 + sizeof...(others);
  if (X.cols() == 0) return std::vector<double>();
  const Results<double> maxima(q, X.cols() * std::int64_t(count));
  launch(q, column_maxima<T, count>, dim3(unsigned(X.cols()), count), threads_a_block,
         Matrices<T, count>{{X, others...}}, maxima.data());
  return maxima.fetched();
}

/// One block a column: sizes is columns × 2, the largest magnitude and the sum of all.
template <class T>
__global__ void __launch_bounds__(1024) measure_columns(MatrixView<const T, Cuda> X, double* sizes) {
  __shared__ double largest_of[32], sum_of[32];
  const T* x = X.data() + std::int64_t(blockIdx.x) * X.ld();
  double most = 0, sum = 0;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < X.rows(); i += blockDim.x) {
    const double size = fabs(double(x[i]));
    most = larger(most, size), sum += size;
  }
  const auto of_warp = [&] {
    for (int half = 16; half > 0; half /= 2) {
      most = larger(most, __shfl_xor_sync(~0u, most, half));
      sum += __shfl_xor_sync(~0u, sum, half);
    }
  };
  of_warp();
  if (threadIdx.x % 32 == 0) largest_of[threadIdx.x / 32] = most, sum_of[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  most = largest_of[threadIdx.x], sum = sum_of[threadIdx.x];
  of_warp();
  if (threadIdx.x == 0) sizes[blockIdx.x] = most, sizes[gridDim.x + blockIdx.x] = sum;
}
template <class T>
Fetched<SizesOfColumns> sizes_of_columns(Queue<Cuda>& q, MatrixView<const T, Cuda> X) {
  if (X.empty()) return SizesOfColumns{};
  const Results<double> sizes(q, 2 * X.cols());
  launch(q, measure_columns<T>, unsigned(X.cols()), 1024, X, sizes.data());
  return sizes.fetched([n = X.cols()](const std::vector<double>& all) {
    const auto half = all.begin() + std::ptrdiff_t(n);
    return SizesOfColumns{{all.begin(), half}, std::vector<double>(half, all.end())};
  });
}

/// R ← B − A X for a square A, and the largest magnitudes in the columns of B, X and R.
template <class T, OnOneDevice AnyMatrix>
Fetched<std::vector<double>> residual_with_norms(Queue<Cuda>& q, const AnyMatrix& A, MatrixView<const T, Cuda> X,
                                                 MatrixView<const T, Cuda> B, MatrixView<T, Cuda> R) {
  if (R.empty() || !is_by_rows(q, A, R.cols())) {
    residual<T>(q, A, X, B, R);
    return column_norms<T>(q, B, X, MatrixView<const T, Cuda>(R));
  }
  const std::int64_t blocks = ceil_div(A.rows(), 32), columns = 3 * R.cols();
  const Results<double> maxima(q, blocks * columns);
  launch_residual_of_rows<T>(q, A, X, B, R, maxima.data());
  return maxima.fetched([blocks](const std::vector<double>& all) {
    std::vector<double> norms;
    for (auto part = all.begin(); part != all.end(); part += blocks)
      norms.push_back(largest(std::vector<double>(part, part + blocks)));
    return norms;
  });
}

/// One block. `failed_at` is what the factorization has written down, A the factors.
template <class T>
__global__ void __launch_bounds__(1024)
    find_ending(MatrixView<const T, Cuda> A, const std::int64_t* failed_at, Ending* ending) {
  __shared__ double least[32], most[32];
  wait_for_prerequisites();
  const unsigned t = threadIdx.x;
  double mine = A.empty() ? 0 : fabs(double(A.data()[0])), largest = mine;
  for (std::int64_t i = t; i < A.rows(); i += blockDim.x) {
    const double x = fabs(double(A.data()[i + i * A.ld()]));
    mine = fmin(mine, x), largest = fmax(largest, x);
  }
  const auto of_warp = [&] {
    for (int half = 16; half > 0; half /= 2) {
      mine = fmin(mine, __shfl_xor_sync(~0u, mine, half));
      largest = fmax(largest, __shfl_xor_sync(~0u, largest, half));
    }
  };
  of_warp();
  if (t % 32 == 0) least[t / 32] = mine, most[t / 32] = largest;
  __syncthreads();
  if (t >= 32) return;
  const unsigned warp = t % (blockDim.x / 32);
  mine = least[warp], largest = most[warp];
  of_warp();
  if (t == 0) *ending = {*failed_at, mine, largest};
}

/// How a factorization ended.
template <class T>
Fetched<Ending> ending_of(Queue<Cuda>& q, MatrixView<const T, Cuda> factors, MatrixView<std::int64_t, Cuda> failed_at) {
  const Results<Ending> ending(q, 1);
  launch(q, find_ending<T>, Blocks::dependent, dim3(1), 1024, 0, factors, failed_at.data(), ending.data());
  return ending.fetched([](const std::vector<Ending>& one) { return one[0]; });
}

/// Thread i of part p has a share of the columns in which its block has entries of row i: `sums` and `maxima`, rows × parts.
template <class T>
__global__ void partial_sizes_of_part(PartOfFactors<T, Cuda> A, const double* weights, MatrixView<double, Cuda> sums,
                                      MatrixView<double, Cuda> maxima) {
  const std::int64_t first_row = std::int64_t(blockIdx.x) * blockDim.x, i = first_row + threadIdx.x, p = blockIdx.y;
  if (i >= A.rows()) return;
  const bool is_L = A.which == Factor::L;
  const auto in_columns = [&](std::int64_t j) { return max(std::int64_t(0), min(j, A.cols())); };
  const std::int64_t diagonal = i - A.first, from = is_L ? 0 : in_columns(first_row - A.first),
                     to = is_L ? in_columns(first_row + blockDim.x - A.first) : A.cols();
  std::int64_t begin = from + (to - from) * p / row_sum_parts, end = from + (to - from) * (p + 1) / row_sum_parts;
  begin = is_L ? begin : max(begin, diagonal), end = is_L ? min(end, diagonal) : end;
  double sum = is_L && p == 0 && diagonal >= 0 && diagonal < A.cols() ? weights[diagonal] : 0, most = 0;
#pragma unroll 8
  for (std::int64_t j = begin; j < end; ++j) {
    const double size = fabs(double(A.LU.data()[i + j * A.LU.ld()]));
    sum = fma(size, weights[j], sum), most = larger(most, size);
  }
  sums.data()[i + p * sums.ld()] = sum, maxima.data()[i + p * maxima.ld()] = most;
}

/// Of some columns of factors; a weight for each.
template <class T>
Fetched<SizesOfPart> sizes_of_part(Queue<Cuda>& q, PartOfFactors<T, Cuda> A, const std::vector<double>& weights) {
  const std::int64_t n = A.rows();
  if (A.LU.empty()) return SizesOfPart{.sums = std::vector<double>(std::size_t(n), 0.0)};
  Matrix<double, Cuda> there(A.cols(), 1);
  const Settled settled(q);
  copy<double>(q, MatrixView<const double>(weights.data(), A.cols(), 1, A.cols()), there.view());
  const Results<double> sizes(q, n + row_sum_parts);
  const auto partial = q.scratch<double>(n, 2 * row_sum_parts);
  const auto sums = partial.columns(0, row_sum_parts), maxima = partial.columns(row_sum_parts, row_sum_parts);
  const auto blocks = unsigned(ceil_div(n, threads_a_block));
  launch(q, partial_sizes_of_part<T>, dim3(blocks, row_sum_parts), threads_a_block, A, there.data(), sums, maxima);
  launch(q, add_parts, blocks, threads_a_block, sums, sizes.data());
  launch(q, column_maxima<double, 1>, dim3(row_sum_parts, 1), threads_a_block, Matrices<double, 1>{{maxima}},
         sizes.data() + n);
  auto fetched = sizes.fetched([n](const std::vector<double>& all) {
    const auto half = all.begin() + std::ptrdiff_t(n);
    return SizesOfPart{largest(std::vector<double>(half, all.end())), std::vector<double>(all.begin(), half)};
  });
  return *fetched;  // while the weights are there
}

/// X(i, j) ← X(j, i) for i > j where the upper triangle is there, for i < j where the lower one is. X: n × n.
template <class T>
void mirror(Queue<Cuda>& q, MatrixView<T, Cuda> X, Uplo there) {
  if (there == Uplo::upper)
    transpose<Uplo::lower, T>(q, X, X);
  else
    transpose<Uplo::upper, T>(q, X, X);
}

}  // namespace lasolve
