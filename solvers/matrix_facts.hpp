// The copy of a matrix that is factored, and facts of it: those which the beginning of a Cholesky need not wait for, and sizes of columns.
#pragma once

#include <optional>
#include <vector>

#include "core/fetched.hpp"
#include "lasolve/gemm.hpp"
#include "lasolve/matrix.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

struct MatrixFacts {
  bool may_be_positive_definite = false;  ///< A = Aᵀ but for roundoff, with a positive diagonal
  std::vector<double> row_sums;           ///< of magnitudes
};

/// The largest magnitude in each column, and the sum of all, unless that takes another reading.
struct SizesOfColumns {
  std::vector<double> maxima;
  std::optional<std::vector<double>> sums = {};
};
/// By default the largest alone.
template <class T, class Space>
Fetched<SizesOfColumns> sizes_of_columns(Queue<Space>& q, MatrixView<const T, Space> X) {
  return SizesOfColumns{*column_norms<T>(q, X)};
}

/// Y ← X, and the one element of `status` ← −1: nothing has failed yet. By default one after the other.
template <class From, class To, class Space>
void copy_to_factor(Queue<Space>& q, MatrixView<const From, Space> X, MatrixView<To, Space> Y,
                    MatrixView<std::int64_t, Space> status) {
  convert(q, X, Y);
  fill(q, std::int64_t(-1), status);
}

/// The same, and facts of X. If X may not be positive definite, the element of `status` becomes 0, and a
/// speculative Cholesky of Y computes nothing. By default one after the other.
template <class From, class To, class Space>
Fetched<MatrixFacts> copy_and_measure(Queue<Space>& q, MatrixView<const From, Space> X, MatrixView<To, Space> Y,
                                      MatrixView<std::int64_t, Space> status) {
  convert(q, X, Y);
  MatrixFacts facts{*may_be_positive_definite(q, X), *row_sums_of_magnitudes(q, Operand<From, Space>(X), 1)};
  fill(q, std::int64_t(facts.may_be_positive_definite ? -1 : 0), status);
  return facts;
}

}  // namespace lasolve
