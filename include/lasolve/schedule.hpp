// The orders in which blocks are walked: one table, from which the enumerators, their names and the schedules come.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
namespace lasolve {
inline namespace LASOLVE_ABI {

/// X(enumerator, name, plan of LU, plan of Cholesky): a schedule adds one line here. The plans are functions of
/// solvers/schedules.hpp; not_offered stands where a method has none.
/// right_looking: each panel updates all that is behind it; left_looking: each block column is updated with all before it when
/// its turn has come; recursive: by halves.
#define LASOLVE_SCHEDULES(X)                                                  \
  X(right_looking, "right-looking", lu_right_looking, cholesky_right_looking) \
  X(left_looking, "left-looking", lu_left_looking, cholesky_left_looking)     \
  X(recursive, "recursive", lu_by_halves, cholesky_by_halves)                 \
  X(crout, "crout", lu_crout, not_offered)                                    \
  /* the end */

#define LASOLVE_ENUMERATOR(enumerator, name, lu, cholesky) enumerator,
enum class Schedule { automatic, LASOLVE_SCHEDULES(LASOLVE_ENUMERATOR) };
#undef LASOLVE_ENUMERATOR

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
