// The matrix of the systems that a solver solves, as it was given, and what is known of it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solvers/matrix_facts.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// A, or a symmetric matrix of which a triangle is there. What was measured once is kept, also when A has been overwritten.
template <class T, class Space>
class KnownMatrix {
 public:
  KnownMatrix(MatrixView<const T, Space> A, Uplo triangle) : A_(A), triangle_(triangle) {}
  explicit KnownMatrix(SpreadMatrix<T, Space>& spread) : spread_(&spread), triangle_(Uplo::both) {}

  /// Empty of a matrix that is in no memory as a whole.
  MatrixView<const T, Space> view() const { return A_; }
  SpreadMatrix<T, Space>* spread() const { return spread_; }
  std::int64_t order() const { return spread_ ? spread_->order() : A_.rows(); }
  /// Whether all of it is there to be looked at.
  bool is_whole() const { return !is_triangle() && !spread_; }
  bool is_triangle() const { return triangle_ != Uplo::both; }
  /// The matrix of the systems that are solved with `op`.
  SystemMatrix<T, Space> with(Op op) const {
    if (spread_) return SpreadOperand<T, Space>{spread_, op};
    return system_matrix(A_, op, triangle_);
  }

  /// The largest magnitude. On some devices ‖A‖₁ comes with it. Of a triangle ‖A‖∞, which is at most n times as much.
  long double largest_element(Queue<Space>& q) {
    if (spread_) return spread_->largest_element();
    if (is_triangle()) return norm(q, Op::none);
    auto sizes = sizes_of_columns<T>(q, A_);
    if (sizes->sums) measured(q, Op::transpose, *sizes->sums);
    return largest(sizes->maxima);
  }

  /// Has q begin with what the next two tell.
  void measure(Queue<Space>& q, Op op) {
    if (Kept& kept = of(op); !kept.sums && !kept.begun) kept.begun = lasolve::row_sums(q, with(op));
  }
  /// Whether q was given that, and nobody has asked for it yet.
  bool is_being_measured(Op op) { return of(op).begun.has_value(); }
  /// Keeps that for when A is overwritten. Infinite sums, which may have overflowed, would have to be formed anew: they are not kept.
  void keep_measured(Op op) {
    Kept& kept = of(op);
    if (!kept.begun) return;
    RowSums sums{**std::exchange(kept.begun, std::nullopt)};
    if (!std::isinf(sums.most)) kept.sums = std::move(sums);
  }
  /// The same as measure(), of which the row sums are known.
  void measured(Queue<Space>& q, Op op, std::vector<double> sums) {
    if (Kept& kept = of(op); !kept.sums) kept.sums = row_sums_without_overflow(q, with(op), std::move(sums));
  }
  /// The sums of the magnitudes in the rows of op(A).
  const RowSums& row_sums(Queue<Space>& q, Op op) {
    measure(q, op);
    Kept& kept = of(op);
    if (!kept.sums) kept.sums = row_sums_without_overflow(q, with(op), **std::exchange(kept.begun, std::nullopt));
    return *kept.sums;
  }
  /// ‖op(A)‖∞; with Op::transpose that is ‖A‖₁.
  long double norm(Queue<Space>& q, Op op) { return row_sums(q, op).largest(); }
  bool knows_norm(Op op) { return of(op).sums.has_value(); }
  /// Whether it is known, or q was given that.
  bool has_norm(Op op) { return knows_norm(op) || is_being_measured(op); }

 private:
  struct Kept {
    std::optional<Fetched<std::vector<double>>> begun;
    std::optional<RowSums> sums;
  };
  Kept& of(Op op) { return kept_[op == Op::none || is_triangle() ? 0 : 1]; }

  MatrixView<const T, Space> A_;
  SpreadMatrix<T, Space>* spread_ = nullptr;
  Uplo triangle_;
  Kept kept_[2];
};

}  // namespace lasolve
