// Coarse factors that are applied as well as fine ones: each solution is corrected by GMRES.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/settled.hpp"
#include "solvers/refine/gmres.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// What ‖A⁻¹‖ is estimated with if coarse factors alone may hide its size.
template <class T, class Space>
class RefinedFactors final : public Factors<T, Space> {
 public:
  /// `A` is what `factors` are of, applied with Op::none, and `norms` are ‖A‖∞ and ‖Aᵀ‖∞.
  RefinedFactors(Factors<T, Space>& factors, std::array<SystemMatrix<T, Space>, 2> A, std::array<long double, 2> norms)
      : factors_(factors), A_(std::move(A)), norms_(norms) {}

  std::int64_t order() const override { return factors_.order(); }
  /// GMRES stops by ‖M⁻¹r‖₂, where a few large components may hide the others. It restarts, at most twice, until residuals are small themselves.
  void apply(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) override {
    constexpr int most_attempts = 3;
    constexpr double tolerance = 0x1p-30;
    const double small_enough = 0x1p-5 / std::sqrt(double(B.rows()));
    const SystemMatrix<T, Space>& A = A_[op != Op::none];
    const std::vector<double> tolerances(std::size_t(B.cols()), tolerance);
    Matrix<T, Space> given(B.rows(), B.cols()), R(B.rows(), B.cols());
    const Settled settled(q);
    convert<T>(q, B, given.view());
    convert<T>(q, B, R.view());
    fill(q, T(0), X);
    bool solved = false;
    for (int attempt = 0; attempt < most_attempts && !solved; ++attempt) {
      correct_by_gmres(q, Phase::check, factors_, A, op, norms_[op != Op::none], R.view(), tolerances);
      add(q, std::as_const(R).view(), X);
      const ResidualNorms norms = residual_within_range<T, Space>(
          q, A, [&] { return norms_[op != Op::none]; }, X, std::as_const(given).view(), R.view());
      solved = true;
      for (std::size_t j = 0; j < norms.r.size(); ++j) {
        solved = solved && norms.r[j] <= small_enough * norms.b[j];
        const auto r = R.view().columns(std::int64_t(j), 1);
        if (norms.exponents[j] != 0) scale<T>(q, norms.exponents[j], std::as_const(r), r);
      }
    }
    has_solved_all_ = has_solved_all_ && solved;
  }
  /// Whether all residuals became small, in all calls so far.
  bool has_solved_all() const { return has_solved_all_; }
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
  bool has_solved_all_ = true;
};

}  // namespace lasolve
