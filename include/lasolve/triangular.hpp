// Triangular systems of the caller's: for factors that another program has made, or this one has kept as numbers.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/lasolve.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// B ← op(T)⁻¹ B on the host, where T is a triangle of A, lower or upper. The other one is never read, nor the diagonal of a `unit` triangle,
/// whose ones are not stored. A is n × n, B n × nrhs, apart from A. A zero on the diagonal gives infinities and NaN, as in LAPACK's trsm. Flops
/// n² nrhs. Of the options gemm, threads and tuning count. Throws std::invalid_argument for other sizes, for Uplo::both, and for a
/// backend that is not the CPU's; UnknownName.
template <class T>
void solve_triangular(MatrixView<const T> A, Uplo which, bool unit, MatrixView<T> B, Op op = Op::none,
                      const Options& options = {});
#define LASOLVE_EXTERN(T) \
  extern template void solve_triangular(MatrixView<const T>, Uplo, bool, MatrixView<T>, Op, const Options&);
LASOLVE_ELEMENTS(LASOLVE_EXTERN)
#undef LASOLVE_EXTERN

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
