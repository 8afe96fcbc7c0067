// check_again, written once over the norms of a place; instantiated beside its engine.
#pragma once

#include "solvers/accuracy.hpp"
#include "solvers/check_again.hpp"
#include "solvers/refine.hpp"

namespace lasolve {

/// As many columns of n elements as fit in 1 GiB, or in half of what is free.
template <class T, class Place>
std::int64_t columns_at_once(std::int64_t n) {
  const std::size_t bytes = std::min(std::size_t(1) << 30, Memory<Place>::available() / 2);
  return std::max<std::int64_t>(1, std::int64_t(bytes / sizeof(T)) / std::max<std::int64_t>(1, n));
}

/// As check_again, where B and X are at the place of A, and with nb columns at a time. On exit B is the residual.
template <class T, class Place>
void check_by_columns(Queue<Place>& q, const Supply<T, Place>& A, Op op, MatrixView<T, Place> B,
                      MatrixView<const T, Place> X, std::int64_t nb, Report& report) {
  const std::int64_t n = B.rows(), nrhs = B.cols();
  q.phase(Phase::check);
  Matrix<T, Place> block(n, std::min(n, nb));
  const auto b = column_norms<T>(q, B), x = column_norms<T>(q, X);
  std::vector<double> sums(std::size_t(n), 0.0);  // of the magnitudes in the rows of op(A)
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j);
    const auto columns = block.view().columns(0, jb);
    A(q, j, columns);
    q.phase(Phase::check);
    const Operand<T, Place> part(columns, op);
    const auto some = row_sums_of_magnitudes<T>(q, part);
    if (op == Op::none) {
      residual<T>(q, part, X.block(j, 0, jb, nrhs), B, B);  // B ← B − A(:, j…) X(j…, :)
      for (std::int64_t i = 0; i < n; ++i) sums[std::size_t(i)] += some[std::size_t(i)];
    } else {
      const auto rows = B.block(j, 0, jb, nrhs);
      residual<T>(q, part, X, rows, rows);
      std::copy(some.begin(), some.end(), sums.begin() + j);
    }
  }
  judge(report, backward_error(largest(sums), column_norms<T>(q, B), x, b), epsilon<T>);
  q.finish();
  report.phases += q.take_times();
}

}  // namespace lasolve
