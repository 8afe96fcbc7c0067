// Small systems on the CPU, one right-hand side at a time: what Solver does by LU where nothing is out of the ordinary, without what
// takes longer than such a system does: a queue, a plan, memory for each part, and most readings of the clock.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "core/ceil_div.hpp"
#include "core/stopwatch.hpp"
#include "core/tuning.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/places/cpu/norms.hpp"
#include "solvers/places/cpu/panel.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

/// P A = L U of an n × n matrix of which a copy is kept. Where factor() or solve() is false, it is for Solver to do, or to say what
/// is wrong.
///
/// The copy of A is a part of the panel here, and the check of B comes after the solve: to read the clock takes longer.
template <class T>
class SmallSystem {
 public:
  /// Whether a system is for this class, as far as can be known without its factors: the matrix is one leaf of one panel, so that no
  /// product is computed, and nothing special is asked for.
  static bool takes(MatrixView<const T> A, const GemmBackend<Cpu>& gemm, const Options& o) {
    // All of the options, so that none is added without a thought of this.
    const auto& [named, device, method, triangle, precision, refine, schedule, tuning, block_size, threads, nonfinite,
                 check, condition, progress] = o;
    const Tuning& t = cpu_tuning().values;
    const std::int64_t n = A.rows();
    const std::int64_t nb = default_block_size(t, Method::lu, usual_schedule(), precision_of<T>, n);
    if (n == 0 || n > std::min(nb, panel_leaf_columns(t, n)) || !offers(gemm, precision_of<T>)) return false;
    if (tuning || block_size != 0 || schedule != Schedule::automatic || task_watcher()) return false;
    if (precision != Precision::automatic && precision != precision_of<T>) return false;
    if (refine == Refine::classical || condition || progress) return false;
    return method == Method::lu || (method == Method::automatic && !may_be_positive_definite<T>(A));
  }

  explicit SmallSystem(MatrixView<const T> A)
      : n_(A.rows()),
        memory_(n_, 2 * n_ + 2, round_up(n_, line)),
        A_(memory_.view().columns(0, n_)),
        LU_(memory_.view().columns(n_, n_)),
        solution_(memory_.view().columns(2 * n_, 1)),
        residual_(memory_.view().columns(2 * n_ + 1, 1)),
        interchanges_(n_, 1) {
    as_eigen(A_) = as_eigen(A);
  }
  MatrixView<const T> A() const { return A_; }

  /// With `check` A must be finite.
  bool factor(bool check, Report& report) {
    const Stopwatch watch;
    as_eigen(LU_) = as_eigen(A_);
    panel_lu_leaf_alone(LU_, Pivots<Cpu>::in(interchanges_, MatrixView<std::int64_t>(&zero_pivot_, 1, 1, 1)));
    const double seconds = watch.seconds(), u = unit_roundoff_of(precision_of<T>);
    const auto [least, most] = diagonal_range<T>(LU_);
    if (zero_pivot_ >= 0 || least < double(n_) * u * most) return false;
    if (check) {
      if (!std::isfinite(norm(Op::none))) return false;
      report.phases.seconds_of(Phase::check) = watch.seconds() - seconds;
    }
    note_precision<T>(report, *find_solve_precision(precision_of<T>));
    report.n = report.block_size = n_;
    report.method = Method::lu;
    report.schedule = usual_schedule();
    report.threads = 1;
    report.factor_seconds = report.total_seconds = report.phases.seconds_of(Phase::panel) = seconds;
    report.phases.flops[std::size_t(Phase::panel)] = panel_flops(double(n_), double(n_));
    report.factor_gflops = lu_flops(double(n_)) * 1e-9 / seconds;
    return true;
  }

  /// As Solver::solve. `report`: of the factorization, without its times. X is written when it is known to be right.
  bool solve(bool check, MatrixView<const T> b, MatrixView<T> x, Op op, Report& report) {
    const Stopwatch watch;
    as_eigen(solution_) = as_eigen(b);
    apply(solution_, op);
    report.solve_seconds = report.total_seconds = report.phases.seconds_of(Phase::solve) = watch.seconds();
    report.phases.flops[std::size_t(Phase::solve)] = 2.0 * double(n_) * double(n_);
    if (check) {
      const double b_norm = column_norm(b), x_norm = column_norm<T>(solution_);
      const long double a_norm = norm(op), size = a_norm * x_norm + b_norm;
      if (!std::isfinite(size) || exponent_without_overflow<T>(a_norm, x_norm) > 0) return false;
      as_eigen(residual_) = as_eigen(b);
      subtract_product<T>({A(), op}, solution_, residual_);
      const double error = backward_error(a_norm, column_norm<T>(residual_), x_norm, b_norm);
      if (!judge(report, error, unit_roundoff_of(precision_of<T>))) return false;
      report.phases.seconds_of(Phase::check) = watch.seconds() - report.solve_seconds;
    }
    as_eigen(x) = as_eigen(solution_);
    return true;
  }

 private:
  static constexpr std::int64_t line =
      64 / std::int64_t(sizeof(T));  // of the cache: where it begins decides on Eigen's roundings

  static Schedule usual_schedule() { return default_schedule(cpu_tuning().values, Method::lu); }

  /// x ← op(A)⁻¹ x.
  void apply(MatrixView<T> x, Op op) {
    const Tuning& t = cpu_tuning().values;
    if (op == Op::none) {
      for (std::int64_t i = 0; i < n_; ++i) std::swap(x(i, 0), x(interchanges_(i, 0), 0));
      substitute(t, lower_unit(LU_), x);
      substitute(t, upper(LU_), x);
    } else {
      substitute(t, upper(LU_).transposed(), x);
      substitute(t, lower_unit(LU_).transposed(), x);
      for (std::int64_t i = n_ - 1; i >= 0; --i) std::swap(x(i, 0), x(interchanges_(i, 0), 0));
    }
  }

  /// ‖op(A)‖∞; infinite where a sum overflows.
  double norm(Op op) {
    auto& kept = norms_[std::size_t(op)];
    if (!kept) {
      std::vector<double> sums(std::size_t(n_), 0.0);
      add_magnitudes<T>({A(), op}, 1, 0, n_, sums.data());
      kept = largest(sums);
    }
    return *kept;
  }

  std::int64_t n_;
  Matrix<T> memory_;  // of the next four
  const MatrixView<T> A_, LU_, solution_, residual_;
  Matrix<std::int64_t> interchanges_;
  std::int64_t zero_pivot_ = -1;
  std::array<std::optional<double>, 2> norms_;
};

}  // namespace lasolve
