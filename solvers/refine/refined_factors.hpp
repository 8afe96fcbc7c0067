// Coarse factors that are applied as well as fine ones: each solution is corrected by GMRES.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "solvers/refine/gmres.hpp"

namespace lasolve {

/// As what ‖A⁻¹‖ is estimated with where the factors are too coarse to see how ill-conditioned A is.
template <class T, class Space>
class RefinedFactors final : public Factors<T, Space> {
 public:
  /// `A` is what `factors` are of, applied with Op::none, and `norms` are ‖A‖∞ and ‖Aᵀ‖∞.
  RefinedFactors(Factors<T, Space>& factors, std::array<SystemMatrix<T, Space>, 2> A, std::array<long double, 2> norms)
      : factors_(factors), A_(std::move(A)), norms_(norms) {}

  std::int64_t order() const override { return factors_.order(); }
  void apply(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) override {
    constexpr double tolerance = 0x1p-10;  // what is estimated is an order of magnitude
    convert<T>(q, B, X);
    correct_by_gmres(q, factors_, A_[op != Op::none], op, norms_[op != Op::none], X,
                     std::vector<double>(std::size_t(X.cols()), tolerance));
  }
  void apply_in_T(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) override {
    apply(q, B, X, op);
  }
  Exponents exponents() const override { return exponents_of<T>; }
  const Scales& scales() const override { return factors_.scales(); }
  const MethodRecord& method() const override { return factors_.method(); }
  MatrixView<const T, Space> values() const override { return factors_.values(); }
  std::vector<T> diagonal_on_host(Queue<Space>& q) override { return factors_.diagonal_on_host(q); }
  std::vector<std::int64_t> pivots_on_host(Queue<Space>& q) override { return factors_.pivots_on_host(q); }
  const std::int64_t* failed_at() const override { return factors_.failed_at(); }
  std::size_t bytes() const override { return factors_.bytes(); }

 private:
  Factors<T, Space>& factors_;
  const std::array<SystemMatrix<T, Space>, 2> A_;
  const std::array<long double, 2> norms_;
};

}  // namespace lasolve
