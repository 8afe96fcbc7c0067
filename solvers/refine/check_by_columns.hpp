// check_again, written once over the norms of a device; instantiated beside its engine.
#pragma once

#include <algorithm>
#include <functional>

#include "core/settled.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/check_again.hpp"
#include "solvers/refine/refine.hpp"

namespace lasolve {

/// As many columns of n elements as fit in 1 GiB, or in half of what is free.
template <class T, class Space>
std::int64_t columns_at_once(std::int64_t n) {
  const std::size_t bytes = std::min(std::size_t(1) << 30, Memory<Space>::available() / 2);
  return std::max<std::int64_t>(1, std::int64_t(bytes / sizeof(T)) / std::max<std::int64_t>(1, n));
}

/// A function of its own: nvcc compiles lambdas for the device as well, where there is no long double.
inline void set_to_zeros(std::vector<long double>& sums, std::int64_t n) { sums.assign(std::size_t(n), 0); }

/// As check_again, where B and X are on the device of A, and with nb columns at a time.
template <class T, class Space>
Checked check_by_columns(Queue<Space>& q, const Supply<T, Space>& A, Op op, Uplo triangle, MatrixView<const T, Space> B,
                         MatrixView<const T, Space> X, std::int64_t nb) {
  const std::int64_t n = B.rows(), nrhs = B.cols();
  Matrix<T, Space> R(n, nrhs), block(n, std::min(n, nb));
  const Settled settled(q);
  q.phase(Phase::check);
  std::vector<long double> sums;  // of the magnitudes in the rows of the matrix
  const auto subtract = [&](const SystemMatrix<T, Space>& part, std::int64_t i, std::int64_t j,
                            MatrixView<const T, Space> x) {  // R(i…, :) ← R(i…, :) − part X(j…, :)
    const auto some = row_sums_without_overflow(q, part, *row_sums(q, part)).wide();
    std::transform(some.begin(), some.end(), sums.begin() + i, sums.begin() + i, std::plus<>());
    std::visit(
        [&](const auto& matrix) {
          const auto rows = R.view().block(i, 0, matrix.rows(), nrhs);
          residual<T>(q, matrix, x.block(j, 0, matrix.cols(), nrhs), rows, rows);
        },
        part);
  };
  const auto residual_by_columns = [&](MatrixView<const T, Space> x, MatrixView<const T, Space> b) {
    convert<T>(q, b, R.view());
    set_to_zeros(sums, n);
    for (std::int64_t j = 0; j < n; j += nb) {
      const std::int64_t jb = std::min(nb, n - j);
      const auto columns = block.view().columns(0, jb);
      A(q, j, columns);
      q.phase(Phase::check);
      const Operand<T, Space> all(columns, op);
      if (triangle == Uplo::both) {
        op == Op::none ? subtract(all, 0, j, x) : subtract(all, j, 0, x);
        continue;
      }
      const std::int64_t i = triangle == Uplo::lower ? j + jb : 0;  // where the triangle is beside the diagonal block
      const MatrixView<const T, Space> half = columns.block(i, 0, triangle == Uplo::lower ? n - i : j, jb);
      subtract(Symmetric<T, Space>(columns.block(j, 0, jb, jb), triangle), j, j, x);
      subtract(Operand<T, Space>(half), i, j, x);
      subtract(Operand<T, Space>(half, Op::transpose), j, i, x);
    }
  };
  residual_by_columns(X, B);
  auto b = column_norms<T>(q, B), x = column_norms<T>(q, X);
  const auto exponents = exponents_within_range<T>(largest(sums), *x, *b);
  if (any_exponent(exponents))
    on_scaled<T>(q, exponents, X, B, {}, [&](auto some_X, auto some_B, auto) { residual_by_columns(some_X, some_B); });
  const auto r = unscaled(*column_norms<T>(q, R.view()), exponents);
  const double error = backward_error(largest(sums), r, *x, *b);
  q.finish();
  return {error, q.take_times()};
}

}  // namespace lasolve
