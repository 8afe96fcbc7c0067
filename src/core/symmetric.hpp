// A symmetric matrix of which one triangle is there, and what a system may have as its matrix.
#pragma once

#include <variant>

#include "core/spread.hpp"
#include "lasolve/precision.hpp"

namespace lasolve {

/// Whether elements (i, j) and (j, i), a and b, are the same but for roundoff, as in a product M Mᵀ whose halves were summed in
/// different orders: |a − b| ≤ 8 u √(d e), with elements i and j of the diagonal. A positive definite matrix has |a| < √(d e). HPL's
/// check of a solution with one half allows twice of that in the other.
template <class T>
constexpr bool equal_but_for_roundoff(T a, T b, T d, T e) {
  if (a == b) return true;
  constexpr double most = 8 * unit_roundoff_of(precision_of<T>);
  const double difference = a < b ? double(b) - double(a) : double(a) - double(b);
  const double larger = d < e ? e : d;
  if (!(difference <= most * larger)) return false;                                 // nearly all that are not equal
  const double by = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p800 : 1;  // so that no square overflows
  return (difference * by) * (difference * by) <= most * most * (double(d) * by) * (double(e) * by);
}

/// Element (i, j) is that of `half` at (max(i, j), min(i, j)): what is above the diagonal of `half` is never read.
template <class T, class Space = Cpu>
struct Symmetric {
  Operand<T, Space> half;

  /// A, of which the lower or the upper triangle is there.
  constexpr Symmetric(MatrixView<const T, Space> A, Uplo triangle)
      : half(A, triangle == Uplo::upper ? Op::transpose : Op::none) {}

  constexpr std::int64_t rows() const { return half.rows(); }
  constexpr std::int64_t cols() const { return half.cols(); }
  constexpr decltype(auto) operator()(std::int64_t i, std::int64_t j) const requires std::is_same_v<Space, Cpu> {
    return i >= j ? half(i, j) : half(j, i);
  }
};

/// op(A), or a symmetric matrix, or op(A) of one that is in no memory as a whole.
template <class T, class Space = Cpu>
using SystemMatrix = std::variant<Operand<T, Space>, Symmetric<T, Space>, SpreadOperand<T, Space>>;

/// op(A) of a matrix that is all there, else the symmetric matrix with the triangle that is there.
template <class T, class Space>
SystemMatrix<T, Space> system_matrix(MatrixView<const T, Space> A, Op op, Uplo triangle) {
  if (triangle == Uplo::both) return Operand<T, Space>(A, op);
  return Symmetric<T, Space>(A, triangle);
}

}  // namespace lasolve
