#include "solvers/lu_nopivot/method.hpp"

namespace lasolve {

namespace {

template <class T>
void factor_block(MatrixView<T> A, std::int64_t first, MatrixView<std::int64_t> status) {
  const std::int64_t n = A.cols();
  for (std::int64_t k = 0; k < n; ++k) {
    if (A(k, k) == 0 && status(0, 0) < 0) status(0, 0) = first + k;
    for (std::int64_t i = k + 1; i < n; ++i) A(i, k) /= A(k, k);  // the reciprocal of a subnormal pivot overflows
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < n; ++i) A(i, j) -= A(i, k) * A(k, j);
  }
}

}  // namespace

void factor_without_pivots(Queue<Cpu>&, MatrixView<double> A, std::int64_t first, MatrixView<std::int64_t> status) {
  factor_block(A, first, status);
}
void factor_without_pivots(Queue<Cpu>&, MatrixView<float> A, std::int64_t first, MatrixView<std::int64_t> status) {
  factor_block(A, first, status);
}

}  // namespace lasolve
