// Small systems on the CPU: what Solver does where nothing is out of the ordinary, without what takes longer than such a system does:
// a queue, a plan, memory for each part, and most readings of the clock.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "core/ceil_div.hpp"
#include "core/stopwatch.hpp"
#include "core/tuning.hpp"
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/lu/cpu/panel.hpp"
#include "solvers/methods.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/tuning.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// A method that has no leaf on the CPU.
template <class M>
std::int64_t leaf_columns(M, const Tuning&, std::int64_t) {
  return 0;
}
template <class M, class T>
void factor_leaf(M, MatrixView<T>, MatrixView<std::int64_t>, MatrixView<std::int64_t>) {
  throw std::logic_error("lasolve: a method has no leaf");
}
template <class M, class T>
void apply_leaf(M, MatrixView<T>, MatrixView<std::int64_t>, MatrixView<T>, Op) {
  throw std::logic_error("lasolve: a method has no leaf");
}

/// The factors of an n × n matrix. Where factor() or solve() is false, it is for Solver to do, or to
/// say what is wrong.
///
/// To copy A is a part of the panel here, no phase has the norm of A, and the check of B comes after the solve: to read the clock
/// takes longer.
template <class T>
class SmallSystem {
 public:
  /// Whether A, of which all is there, is one leaf of one panel, so that no product is computed: by the tuning of this machine.
  static bool fits(std::int64_t n, const Options& options) {
    return n > 0 && !options.tuning && options.triangle == Uplo::both && n <= most_rows(options.factorization, n);
  }

  /// The memory that a system of order n works in, in whole lines of the cache. It begins with one: that decides on Eigen's roundings.
  static constexpr std::size_t bytes(std::int64_t n) {
    const std::int64_t columns = (n + 2) * ld(n) * std::int64_t(sizeof(T)),
                       rest = n * std::int64_t(sizeof(std::int64_t) + sizeof(double));
    return std::size_t(round_up(columns + rest, 64));
  }
  static constexpr std::int64_t ld(std::int64_t n) { return round_up(n, 64 / std::int64_t(sizeof(T))); }

  /// Borrows both.
  SmallSystem(MatrixView<const T> A, const Recipes& recipes, void* memory)
      : by_(recipes.first().symmetry == Symmetry::before && !may_be_positive_definite<T>(A)
                ? *recipes.after(recipes.first(), Reason::not_positive_definite)
                : recipes.first()),
        n_(A.rows()),
        A_(A),
        factors_(static_cast<T*>(memory), n_, n_, ld(n_)),
        one_rhs_(factors_.data() + n_ * factors_.ld(), n_, 2, factors_.ld()),
        interchanges_(reinterpret_cast<std::int64_t*>(one_rhs_.data() + 2 * one_rhs_.ld()), n_, 1, n_),
        sums_(reinterpret_cast<double*>(interchanges_.data() + n_), std::size_t(n_)) {
    tell_recipe(recipes, by_);
  }
  MatrixView<const T> A() const { return A_; }
  const Recipe& recipe() const { return by_; }

  /// A watch that began when the factors were there, or none. Where solutions are checked, A must be finite.
  std::optional<Stopwatch> factor(Facts& facts) {
    if (by_.check && (!std::isfinite(norm(Op::none)) || exponent_of_subnormal<T>(norm(Op::none)) != 0)) return {};
    Stopwatch watch;
    copy_on_host<T>(A_, factors_);
    const MatrixView<std::int64_t> failed_at(&failed_at_, 1, 1, 1);
    const MethodRecord& method = record_of(by_.method);
    with_method(by_.method, [&](auto M) { factor_leaf(M, factors_, interchanges_, failed_at); });
    const double seconds = watch.lap(), u = unit_roundoff_of(precision_of<T>), n = double(n_);
    const auto [least, most] = diagonal_range<T>(factors_);
    const double range = range_of_pivots(least, most, method.power_of_pivots);
    if (failed_at_ >= 0 || !(range >= n * u)) return {};
    facts.n = n_, facts.threads = 1;
    facts.factor_seconds = facts.times.total_seconds = facts.times.phases.seconds_of(Phase::panel) = seconds;
    facts.times.phases.flops[std::size_t(Phase::panel)] = method.panel_flops(n, n);
    if (task_watcher()) tell_at_once(by_.method, by_.schedule, n_, steady_seconds() - seconds, steady_seconds());
    if (!by_.estimates_condition(range, u)) return watch;
    if (!is_well_conditioned(facts)) return {};
    return Stopwatch();
  }

  /// Whether so many right-hand sides are for this class. More than n are left to the threads of Solver.
  bool takes(std::int64_t nrhs) const {
    const SolveRecipe by = resolve(by_, {.n = n_, .nrhs = nrhs, .most_of_a_leaf = n_});
    if (by.executor == Executor::leaf) tell_recipe(by);
    return by.executor == Executor::leaf;
  }

  /// As Solver::solve. X is written when it is known to be right.
  bool solve(MatrixView<const T> B, MatrixView<T> X, Op op, SolveFacts& facts, Stopwatch watch = {}) {
    const std::int64_t nrhs = B.cols();
    Matrix<T> more;
    if (nrhs > 1) more = Matrix<T>(n_, 2 * nrhs, ld(n_));
    const MatrixView<T> rhs = nrhs > 1 ? more.view() : one_rhs_;
    const auto solution = rhs.columns(0, nrhs), residual = rhs.columns(nrhs, nrhs);
    copy_on_host<T>(B, solution);
    apply(solution, op);
    PhaseTimes& phases = facts.times.phases;
    facts.times.total_seconds = phases.seconds_of(Phase::solve) = watch.seconds();
    phases.flops[std::size_t(Phase::solve)] = 2.0 * double(n_) * double(n_) * double(nrhs);
    if (by_.check) {
      const long double a_norm = norm(op);
      copy_on_host<T>(B, residual);
      subtract_product<T>({A(), op}, solution, residual);
      double error = 0;
      for (std::int64_t j = 0; j < nrhs; ++j) {
        const double b = column_norm(B, j), x = column_norm<T>(solution, j);
        if (!std::isfinite(a_norm * x + b) || may_overflow<T>(a_norm, x)) return false;
        error = larger(error, backward_error(a_norm, column_norm<T>(residual, j), x, b));
      }
      if (!passes(error, n_, facts.roundoff)) return false;
      facts.backward_error = error;
      phases.seconds_of(Phase::check) = watch.seconds() - facts.times.total_seconds;
    }
    copy_on_host<T>(solution, X);
    return true;
  }

 private:
  /// The most rows of a matrix that is one leaf, which has n rows and may be symmetric where the method is automatic.
  static std::int64_t most_rows(Method method, std::int64_t n) {
    if (method == Method::automatic) {
      std::int64_t least = n;
      for (const Method one : automatic_methods) least = std::min(least, most_rows(one, n));
      return least;
    }
    const Tuning& t = cpu_tuning().values;
    const MethodRecord& record = record_of(method);
    const Widths widths =
        record.widths(t, {.schedule = record.default_schedule(t, false), .storage = precision_of<T>, .n = n});
    return std::min(widths.panel, with_method(method, [&](auto M) { return leaf_columns(M, t, n); }));
  }

  /// X ← op(A)⁻¹ X.
  void apply(MatrixView<T> X, Op op) {
    with_method(by_.method, [&](auto M) { apply_leaf(M, factors_, interchanges_, X, op); });
  }

  /// The condition is estimated, and leaves no doubt.
  bool is_well_conditioned(Facts& facts) {
    const Stopwatch watch;
    Matrix<T> here(n_, 4, ld(n_));
    const auto solve = [&](int exponent, MatrixView<double> X, Op op) {
      const MatrixView<T> some = here.view().columns(0, X.cols());
      const auto its = as_real(some);
      for (std::int64_t j = 0; j < X.cols(); ++j)
        for (std::int64_t i = 0; i < X.rows(); ++i) its(i, j) = real_of<T>(std::ldexp(X(i, j), exponent));
      apply(some, op_of_complex<T>(op));
      for (std::int64_t j = 0; j < X.cols(); ++j) std::copy_n(&its(0, j), X.rows(), &X(0, j));
    };
    facts.rcond = reciprocal_condition_on_host(parts<T> * n_, norm(Op::transpose), exponents_of<T>, solve);
    facts.times.phases.seconds_of(Phase::check) += watch.seconds();
    return *facts.rcond >= by_.roundoff_of_solutions();
  }

  /// ‖op(A)‖∞; infinite where a sum overflows.
  double norm(Op op) {
    auto& kept = norms_[op != Op::none];
    if (!kept) {
      std::fill(sums_.begin(), sums_.end(), 0.0);
      add_magnitudes<T>({A(), op}, 1, 0, n_, sums_.data());
      kept = largest<double>(sums_);
    }
    return *kept;
  }

  const Recipe by_;
  std::int64_t n_;
  const MatrixView<const T> A_;
  const MatrixView<T> factors_, one_rhs_;        // and its residual
  const MatrixView<std::int64_t> interchanges_;  // where there are any
  const std::span<double> sums_;
  std::int64_t failed_at_ = -1;
  std::array<std::optional<double>, 2> norms_;
};

}  // namespace lasolve
