// How a matrix is factored, and in which order blocks are walked: tables from which enumerators and words come. And how a solution is
// refined.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
namespace lasolve {
inline namespace LASOLVE_ABI {

/// X(enumerator, word, class): a method adds one line here, and a folder solvers/ENUMERATOR/ in which method.hpp declares the class.
/// lu: P A = L U with row interchanges; cholesky: A = L Lᵀ; lu_nopivot: A = L U without interchanges, of a diagonally dominant A.
#define LASOLVE_METHODS(X)          \
  X(lu, "lu", Lu)                   \
  X(cholesky, "cholesky", Cholesky) \
  X(lu_nopivot, "lu-nopivot", LuNopivot)

/// X(enumerator, word): how LU interchanges rows. none: of methods that do not. partial: the pivot is the largest entry of its column.
/// tournament: blocks of rows name candidates for the pivots of some columns at a time, which play against each other.
#define LASOLVE_PIVOTINGS(X) \
  X(none, "none")            \
  X(partial, "partial")      \
  X(tournament, "tournament")

/// X(enumerator, word): a schedule adds one line here, and one to the schedules of each method that has it.
/// right_looking: each panel updates all that is behind it; left_looking: each block column is updated with all before it when
/// its turn has come; recursive: by halves.
#define LASOLVE_SCHEDULES(X)        \
  X(right_looking, "right-looking") \
  X(left_looking, "left-looking")   \
  X(recursive, "recursive")         \
  X(crout, "crout")

#define LASOLVE_ENUMERATOR(enumerator, ...) enumerator,
enum class Method { automatic, LASOLVE_METHODS(LASOLVE_ENUMERATOR) };
enum class Pivoting { automatic, LASOLVE_PIVOTINGS(LASOLVE_ENUMERATOR) };
enum class Schedule { automatic, LASOLVE_SCHEDULES(LASOLVE_ENUMERATOR) };
#undef LASOLVE_ENUMERATOR

/// classical: X ← X + inv(L U)(B − A X). gmres: the correction is that of GMRES, which the factors precondition.
enum class Refine { automatic, none, classical, gmres };
constexpr bool is_asked_for(Refine how) { return how == Refine::classical || how == Refine::gmres; }
/// Which triangle of a symmetric matrix is there.
enum class Uplo { both, lower, upper };

/// What is done always, never, or where it helps. true is on, false is off.
struct Wanted {
  enum Kind : int { automatic, off, on } kind = automatic;
  constexpr Wanted(Kind when = automatic) : kind(when) {}
  constexpr Wanted(bool always) : kind(always ? on : off) {}
  friend constexpr bool operator==(const Wanted&, const Wanted&) = default;
};
/// When the condition of A is estimated.
using Condition = Wanted;

/// What refinement computes residuals in. working: the precision of A. extra: twice that.
enum class Residual { working, extra };
/// What of A was scaled by powers of two before it was factored.
enum class Equilibration { none, rows, columns, both };

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
