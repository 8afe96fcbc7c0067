// The diagonal of a matrix, on the host.
#pragma once

#include <vector>

#include "solvers/refine/condition.hpp"
#include "solvers/refine/known_matrix.hpp"

namespace lasolve {

template <class T, class Space>
std::vector<T> diagonal_of(Queue<Space>& q, MatrixView<const T, Space> A) {
  const Matrix<T> row = on_host<T>(q, MatrixView<const T, Space>(A.data(), 1, A.cols(), A.ld() + 1));
  std::vector<T> diagonal;
  diagonal.reserve(std::size_t(A.cols()));
  for (std::int64_t i = 0; i < A.cols(); ++i) diagonal.push_back(row(0, i));
  return diagonal;
}

template <class T, class Space>
std::vector<T> diagonal_of(Queue<Space>& q, const KnownMatrix<T, Space>& A) {
  return A.spread() ? A.spread()->diagonal() : diagonal_of<T>(q, A.view());
}

}  // namespace lasolve
