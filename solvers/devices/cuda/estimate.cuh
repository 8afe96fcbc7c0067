// Columns of an estimate in the memory of a device: bits of signs, sums and the largest of each row travel, not the columns.
#pragma once

#include "core/cuda/elementwise.cuh"
#include "core/cuda/results.hpp"
#include "core/settled.hpp"
#include "solvers/copy.hpp"
#include "solvers/refine/condition.hpp"

namespace lasolve {

/// sums[j] ← Σᵢ |X(i, j)|, one block a column.
template <class T>
__global__ void __launch_bounds__(1024) sum_columns(MatrixView<const T, Cuda> X, double* sums) {
  __shared__ double of_warps[32];
  const T* const x = X.data() + blockIdx.x * X.ld();
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < X.rows(); i += 1024) sum += fabs(double(x[i]));
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = of_warps[threadIdx.x % 32];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Which element of each column is 1.
struct UnitsOfEstimate {
  std::int64_t at[ColumnsOfEstimate::most] = {-1, -1, -1, -1};
};

template <class T>
class ColumnsOn<T, Cuda> final : public ColumnsOfEstimate {
  using Word = std::int64_t;  // the bits of a Signs::Word

 public:
  /// `weights`: of rows, if there are any; to be kept.
  ColumnsOn(Queue<Cuda>& q, std::int64_t n, std::span<const double> weights)
      : q_(q), X_(n, std::min(n, most)), words_(ceil_div(n, Signs::bits), X_.cols()) {
    if (weights.empty()) return;
    weights_ = Matrix<double, Cuda>(n, 1);
    copy<double>(q, MatrixView<const double>(weights.data(), n, 1, n), weights_.view());
  }
  MatrixView<T, Cuda> view() { return X_.view(); }
  void weigh() {
    if (weights_.cols() == 0) return;
    for_each_element(q_, X_.view(), [w = weights_.data()] __device__(T & x, std::int64_t i, std::int64_t) {
      x = T(w[i] * double(x));
    });
  }

  std::int64_t rows() const override { return X_.rows(); }
  void set_signs(double factor, const std::vector<Signs>& signs) override {
    for (std::size_t j = 0; j < signs.size(); ++j)
      std::transform(signs[j].words().begin(), signs[j].words().end(), &given_(0, std::int64_t(j)),
                     [](Signs::Word word) { return std::bit_cast<Word>(word); });
    copy<Word>(q_, std::as_const(given_).view(), words_.view());
    for_each_element(q_, X_.view().columns(0, std::int64_t(signs.size())),
                     [factor, words = words_.view()] __device__(T & x, std::int64_t i, std::int64_t j) {
                       const Word word = words.data()[i / Signs::bits + j * words.ld()];
                       x = T((word >> (i % Signs::bits) & 1) != 0 ? -factor : factor);
                     });
  }
  void set_growing(std::int64_t column) override {
    for_each_element(q_, X_.view().columns(column, 1),
                     [n = double(rows())] __device__(T & x, std::int64_t i, std::int64_t) {
                       x = T((i % 2 == 0 ? 2.0 : -2.0) / 3 / n * (1 + double(i) / (n - 1)));
                     });
  }
  void set_units(std::int64_t first, const std::vector<std::int64_t>& units) override {
    UnitsOfEstimate of;
    std::copy(units.begin(), units.end(), of.at);
    for_each_element(q_, X_.view().columns(first, std::int64_t(units.size())),
                     [of] __device__(T & x, std::int64_t i, std::int64_t j) { x = T(i == of.at[j]); });
  }
  std::vector<double> sums() override {
    const Results<double> sums(q_, X_.cols());
    launch(q_, sum_columns<T>, unsigned(X_.cols()), 1024, std::as_const(X_).view(), sums.data());
    return *sums.fetched();
  }
  std::vector<Signs> signs() override {
    const std::int64_t words = words_.rows();
    const std::vector<Word> all = computed<Word>(
        words, X_.cols(), [X = std::as_const(X_).view()] __device__(Word & word, std::int64_t k, std::int64_t j) {
          const std::int64_t first = k * Signs::bits, end = std::min(first + Signs::bits, X.rows());
          Signs::Word bits = 0;
#pragma unroll 8
          for (std::int64_t i = first; i < end; ++i)
            bits |= Signs::Word(!(X.data()[i + j * X.ld()] >= 0)) << (i - first);
          word = Word(bits);
        });
    std::vector<Signs> signs(std::size_t(X_.cols()), Signs(rows()));
    for (std::size_t j = 0; j < signs.size(); ++j)
      std::transform(all.begin() + std::int64_t(j) * words, all.begin() + std::int64_t(j + 1) * words,
                     signs[j].words().begin(), [](Word word) { return std::bit_cast<Signs::Word>(word); });
    return signs;
  }
  std::vector<double> largest_of_rows() override {
    return computed<double>(rows(), 1,
                            [X = std::as_const(X_).view()] __device__(double& most, std::int64_t i, std::int64_t) {
                              double most_yet = 0;
                              for (std::int64_t j = 0; j < X.cols(); ++j)
                                most_yet = larger(most_yet, fabs(double(X.data()[i + j * X.ld()])));
                              most = most_yet;
                            });
  }

 private:
  /// f(element, i, j) for rows × columns of numbers, on the host.
  template <class E, class F>
  std::vector<E> computed(std::int64_t rows, std::int64_t columns, F f) {
    const Results<E> results(q_, rows * columns);
    for_each_element(q_, MatrixView<E, Cuda>(results.data(), rows, columns, rows), f);
    return *results.fetched();
  }

  Queue<Cuda>& q_;
  Matrix<T, Cuda> X_;
  Matrix<Word, Cuda> words_;
  Matrix<Word> given_{words_.rows(), words_.cols()};  // on their way until something is computed of X
  Matrix<double, Cuda> weights_;
};

}  // namespace lasolve
