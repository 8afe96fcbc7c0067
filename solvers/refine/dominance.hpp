// Diagonal dominance, which a factorization without interchanges requires.
#pragma once

#include <vector>

#include "solvers/refine/diagonal.hpp"
#include "solvers/refine/known_matrix.hpp"

namespace lasolve {

/// Whether |aᵢᵢ| ≥ Σⱼ≠ᵢ|aᵢⱼ| for all rows, or |aⱼⱼ| ≥ Σᵢ≠ⱼ|aᵢⱼ| for all columns, but for the roundoff of the sums. False where there is NaN. One of them
/// is enough: elements then grow at most twofold (Higham, "Accuracy and Stability of Numerical Algorithms", theorem 13.8).
template <class T, class Space>
bool is_diagonally_dominant(Queue<Space>& q, KnownMatrix<T, Space>& A) {
  const std::int64_t n = A.order();
  if (n == 0) return true;
  const std::vector<T> diagonal = diagonal_of(q, A);
  const auto dominates = [&](const RowSums& its) {
    const std::vector<long double> sums = its.wide();
    const long double least = 1 - 2 * double(n) * unit_roundoff_of(Precision::fp64);  // which sums are in
    for (std::int64_t i = 0; i < n; ++i)
      if (!(2 * static_cast<long double>(magnitude(diagonal[std::size_t(i)])) >= sums[std::size_t(i)] * least))
        return false;
    return true;
  };
  q.phase(Phase::check);
  return dominates(A.row_sums(q, Op::none)) || dominates(A.row_sums(q, Op::transpose));
}

}  // namespace lasolve
