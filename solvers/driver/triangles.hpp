// What factors are, beside what they solve: triangles, interchanges and a determinant.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/settled.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/lu/pivots.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// Of factors in the type of A, on any device.
template <class T, class Space>
class TrianglesOf final : public Triangles<T> {
 public:
  /// How A was factored. `finer`: where that is coarser than A, makes factors that are not, or nothing.
  TrianglesOf(Queue<Space>& q, const GemmBackend<Space>& gemm, const Factored<T, Space>& made,
              std::function<std::optional<Factored<T, Space>>()> finer)
      : q_(q), gemm_(gemm), finer_(std::move(finer)) {
    set(made);
  }

  LogDeterminant log_abs_det() override {
    require(!ComplexElement<T>, "the determinant of a complex matrix has more than a sign");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_coarse_ && outcome_.ok()) {
      fine_ = finer_();
      require(fine_.has_value(), coarser_than_A);
      set(*fine_);
    }
    if (outcome_.kind == Outcome::singular) return {-infinity, 0};
    if (!outcome_.ok()) return {std::numeric_limits<double>::quiet_NaN(), 0};
    q_.phase(Phase::other);
    long double log_abs = 0;
    log_abs -= factors_->scales().log2_of_determinant(factors_->order()) * std::log(2.0L);
    int sign = 1;
    const int power = factors_->method().power_of_pivots;
    for (const T element : factors_->diagonal_on_host(q_)) {
      log_abs += power * std::log((long double)(magnitude(element)));
      if constexpr (!ComplexElement<T>)
        if (element < 0) sign = -sign;
    }
    const std::vector<std::int64_t> exchanged = pivots();
    for (std::size_t k = 0; k < exchanged.size(); ++k)
      if (exchanged[k] != std::int64_t(k)) sign = -sign;
    return {double(log_abs), sign};
  }

  Matrix<T> triangle(Factor which) override {
    require_factors_of_A();
    const auto stored = of(which);
    Matrix<T> here = fetched(stored.values.stored());
    if (stored.values.op() == Op::transpose)
      for (std::int64_t j = 0; j < here.cols(); ++j)
        for (std::int64_t i = 0; i < j; ++i) here(i, j) = here(j, i);
    keep_triangle(here.view(), stored);
    return here;
  }

  std::vector<std::int64_t> pivots() override {
    require_factored();
    q_.phase(Phase::other);
    std::vector<std::int64_t> exchanged = factors_->pivots_on_host(q_);
    if (exchanged.empty()) {
      exchanged.resize(std::size_t(factors_->order()));
      std::iota(exchanged.begin(), exchanged.end(), 0);
    }
    return exchanged;
  }

  void apply(const FactorCall& call, MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X) override {
    if constexpr (std::is_same_v<Space, Cpu>) {
      apply_here(call, B, X);
    } else {
      Matrix<T, Space> b(B.rows(), B.cols()), x(X.rows(), X.cols());
      const Settled settled(q_);
      q_.phase(Phase::to_device);
      copy<T>(q_, B, b.view());
      apply_here(call, std::as_const(b).view(), x.view());
      q_.phase(Phase::to_host);
      copy<T>(q_, std::as_const(x).view(), X);
      q_.finish();
    }
  }
  void apply(const FactorCall& call, Columns<const T, Cuda> B, Columns<T, Cuda> X) override {
    if constexpr (std::is_same_v<Space, Cpu>) {
      require_factors_of_A();
      refuse_misuse("right-hand sides on a CUDA device, but the factors are on the CPU");
    } else {
      by_columns(q_, B, X, [&](auto b, auto x) { apply_here(call, b, x); });
      q_.finish();
    }
  }

 private:
  void apply_here(const FactorCall& call, MatrixView<const T, Space> B, MatrixView<T, Space> X) {
    require_factors_of_A();
    if (X.empty()) return;
    const Settled settled(q_);
    const auto factor = call.op == Op::none ? of(call.which) : of(call.which).transposed();
    call.inverse ? solve(factor, B, X) : multiply(factor, B, X);
    q_.finish();
  }

  void solve(const Triangle<T, Space>& factor, MatrixView<const T, Space> B, MatrixView<T, Space> X) {
    const std::int64_t n = factor.order(), at_once = rhs_at_once(q_, n, X.cols());
    q_.phase(Phase::solve, double(n) * double(n) * double(X.cols()));
    for (std::int64_t j = 0; j < X.cols(); j += at_once) {
      const std::int64_t some = std::min(at_once, X.cols() - j);
      trsm_left(q_, gemm_, factor, B.columns(j, some), no_pivots<Space>, X.columns(j, some));
    }
  }

  /// Row after row of blocks, of which only that on the diagonal has to be copied, to be rid of its other triangle.
  void multiply(const Triangle<T, Space>& factor, MatrixView<const T, Space> B, MatrixView<T, Space> X) {
    const std::int64_t n = factor.order(), nrhs = X.cols(), block = std::min<std::int64_t>(n, 256);
    Matrix<T, Space> diagonal(block, n, block);
    const Settled settled(q_);
    q_.phase(Phase::other);
    for (std::int64_t k = 0; k < n; k += block) {
      const std::int64_t m = std::min(block, n - k);
      const auto its = factor.diagonal_block(k, m);
      Matrix<T> here = fetched(its.values.stored());
      keep_triangle(here.view(), {its.values, its.lower == (its.values.op() == Op::none), its.unit});
      copy<T>(q_, std::as_const(here).view(), diagonal.view().block(0, k, m, m));
    }
    q_.phase(Phase::gemm, double(n) * double(n) * double(nrhs));
    for (std::int64_t k = 0; k < n; k += block) {
      const std::int64_t m = std::min(block, n - k), behind = n - k - m;
      const auto to = X.block(k, 0, m, nrhs);
      const auto its = std::as_const(diagonal).view().block(0, k, m, m);
      gemm_(q_, T(1), {its, factor.values.op()}, B.block(k, 0, m, nrhs), T(0), to);
      if (factor.lower && k > 0) gemm_(q_, T(1), factor.values.block(k, 0, m, k), B.block(0, 0, k, nrhs), T(1), to);
      if (!factor.lower && behind > 0)
        gemm_(q_, T(1), factor.values.block(k, k + m, m, behind), B.block(k + m, 0, behind, nrhs), T(1), to);
    }
  }

  static constexpr const char* coarser_than_A =
      "L, U, pivots and the determinant are those of factors as fine as A, and these are coarser: leave "
      "Options::precision automatic";
  void set(const Factored<T, Space>& made) {
    factors_ = made.factors.get(), outcome_ = made.facts.outcome, is_coarse_ = made.recipe.is_coarse();
  }
  void require_factored() const {
    require(!is_coarse_, coarser_than_A);
    require(outcome_.ok(), ("there are no factors of A: " + outcome_.message()).c_str());
  }
  void require_factors_of_A() const {
    require_factored();
    require(
        !factors_->scales().any(),
        "A was factored with its rows and columns scaled, as it is subnormal or badly scaled, and these factors are "
        "not those of A");
    require(
        factors_->values().rows() == factors_->order(),
        "factors over several cards, of pieces or out of core are not taken apart: for L and U A is to be one matrix "
        "on one device");
  }
  Triangle<T, Space> of(Factor which) const {
    return triangle_of(factors_->values(), which == Factor::L ? factors_->method().L : factors_->method().U);
  }
  /// A ← its triangle alone, in the order of its memory.
  static void keep_triangle(MatrixView<T> A, const Triangle<T, Space>& its) {
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      const std::int64_t first = its.lower ? 0 : j + 1, end = its.lower ? j : A.rows();
      std::fill(A.data() + j * A.ld() + first, A.data() + j * A.ld() + end, T(0));
      if (its.unit) A(j, j) = 1;
    }
  }
  template <class E>
  Matrix<E> fetched(MatrixView<const E, Space> there) {
    Matrix<E> here(there.rows(), there.cols());
    if (there.empty()) return here;
    const Settled settled(q_);
    q_.phase(Phase::other);
    copy<E>(q_, there, here.view());
    q_.finish();
    return here;
  }

  Queue<Space>& q_;
  const Gemm<T, Space> gemm_;
  std::function<std::optional<Factored<T, Space>>()> finer_;
  std::optional<Factored<T, Space>> fine_;
  Factors<T, Space>* factors_;  // null: there are none
  Outcome outcome_;
  bool is_coarse_;
};

}  // namespace lasolve
