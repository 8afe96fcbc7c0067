// Small systems on CUDA: what one kernel leaves for the next, and what both tell the host.
#pragma once

#include <cstdint>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// How one block of threads has a matrix of up to N × N in its registers. Columns go around `groups` groups of warps. A lane of a warp
/// has R rows of the M columns of its group.
template <class T, int N_>
struct SmallShape {
  using Element = T;
  static constexpr int N = N_, groups = 8, R = N / 32, M = N / groups;
  static constexpr int warps = groups * N / (32 * R), threads = 32 * warps;
  static constexpr int ld = N + 1;                   // odd: neither rows nor columns meet bank conflicts
  static constexpr int chunk = 16 / int(sizeof(T));  // elements that are read at once
  static constexpr int stride = M + chunk;           // of the groups of a row
  static constexpr int least_live = M < 4 ? M : 4;
  static_assert(N % (32 * R) == 0 && least_live % chunk == 0);
};

/// An n × n matrix on a device, and the parts of P A = L U: a column of L and U after the other, then the reciprocals of the diagonal
/// of U; `rows[i]` is where row i of P A is in A. Without interchanges it is A = L D Lᵀ, and U = D Lᵀ.
template <class T>
struct SmallFactors {
  T *A, *LU;
  int* rows;
  int n;

  constexpr int ld() const { return n | 1; }
  constexpr int elements() const { return n * ld() + n; }
};

/// What is to be factored. `triangle`: of a Cholesky that was asked for by name; the other one is never read.
template <class T>
struct SmallTask {
  const T* A;
  std::int64_t ld;
  Method method;
  Uplo triangle;
  bool requires_finite;
};

/// How a factorization ended. Where it is not `usual`, nothing else counts: there is an entry that is not finite, or a pivot that is
/// zero, or whose reciprocal needs more care.
struct SmallEnding {
  bool usual, cholesky;
  int not_positive;     ///< order of the minor at which a Cholesky that was not asked for by name ended; 0: none
  double least, most;   ///< magnitude of a pivot
  double part_of_look;  ///< of the time, that it took to read A and to look at it
  double seconds;       ///< of the kernel
  unsigned written;     ///< see Results::values()
};

/// What came of an attempt by a Cholesky leaf: whether there is no more to do, and if there is, the order of the minor that was not
/// positive, or 0; and when it began, in ns.
struct SmallAttempt {
  bool done;
  int not_positive;
  std::uint64_t began;
};

/// Of a column of a system: largest magnitudes, and ‖op(A)‖∞.
struct SmallNorms {
  double b, x, r, a;
  double part_of_check;      ///< of the time
  std::uint64_t begin, end;  ///< of its block, in ns
  unsigned written;          ///< see Results::values()
};

}  // namespace lasolve
