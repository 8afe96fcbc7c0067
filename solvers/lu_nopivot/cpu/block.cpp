#include "core/cpu/elements.hpp"
#include "solvers/lu_nopivot/method.hpp"

namespace lasolve {

template <class T>
void factor_without_pivots(Queue<Cpu>&, MatrixView<T, Cpu> A, std::int64_t first,
                           MatrixView<std::int64_t, Cpu> status) {
  const std::int64_t n = A.cols();
  for (std::int64_t k = 0; k < n; ++k) {
    if (A(k, k) == T(0) && status(0, 0) < 0) status(0, 0) = first + k;
    for (std::int64_t i = k + 1; i < n; ++i) A(i, k) /= A(k, k);  // the reciprocal of a subnormal pivot overflows
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < n; ++i) A(i, j) -= A(i, k) * A(k, j);
  }
}

#define LASOLVE_INSTANTIATE(T) \
  template void factor_without_pivots(Queue<Cpu>&, MatrixView<T>, std::int64_t, MatrixView<std::int64_t>);
LASOLVE_CPU_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
