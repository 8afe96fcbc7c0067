// A matrix that is in no memory as a whole.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/fetched.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {

/// A square matrix whose columns are dealt out to several cards, or are made again when they are read. What it is applied to is on the device
/// Space. All is there when a call returns.
template <class T, class Space>
class SpreadMatrix {
 public:
  virtual ~SpreadMatrix() = default;
  virtual std::int64_t order() const = 0;
  /// R ← B − op(A) X. R may be B.
  virtual void residual(Op, MatrixView<const T, Space> X, MatrixView<const T, Space> B, MatrixView<T, Space> R) = 0;
  /// The sum of the magnitudes in each row of op(A), times `scale`, or with a weight for each column where there are some.
  virtual std::vector<double> row_sums(Op, double scale, const std::vector<double>& weights) = 0;
  virtual double largest_element() = 0;
  virtual std::vector<T> diagonal() = 0;
  /// Columns first, first + 1, … for who looks at the elements themselves.
  virtual void columns(std::int64_t first, MatrixView<T, Space> to) = 0;
};

/// op(A).
template <class T, class Space>
struct SpreadOperand {
  SpreadMatrix<T, Space>* matrix;
  Op op;

  std::int64_t rows() const { return matrix->order(); }
  std::int64_t cols() const { return matrix->order(); }
};

/// A matrix that the primitives of a device read in its memory.
template <class M>
inline constexpr bool is_spread = false;
template <class T, class Space>
inline constexpr bool is_spread<SpreadOperand<T, Space>> = true;
template <class M>
concept OnOneDevice = !is_spread<M>;

// The primitives of a device that a system needs of its matrix: see solvers/devices/primitives.hpp.

template <class T, class Space>
void residual(Queue<Space>&, const SpreadOperand<T, Space>& A, std::type_identity_t<MatrixView<const T, Space>> X,
              std::type_identity_t<MatrixView<const T, Space>> B, std::type_identity_t<MatrixView<T, Space>> R) {
  A.matrix->residual(A.op, X, B, R);
}
template <class T, class Space>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Space>&, const SpreadOperand<T, Space>& A, double scale) {
  return A.matrix->row_sums(A.op, scale, {});
}
template <class T, class Space>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Space>&, const SpreadOperand<T, Space>& A,
                                                    const std::vector<double>& weights) {
  return A.matrix->row_sums(A.op, 1, weights);
}
template <class T, class Space, class X, class Tail, class B, class R>
void residual_in_two(Queue<Space>&, const SpreadOperand<T, Space>&, X, Tail, B, R) {
  throw std::logic_error("lasolve: residuals in twice the precision are of matrices on one device");  // no recipe asks
}

}  // namespace lasolve
