// Small systems on CUDA: launches of their kernels, and the reports.
#include "solvers/devices/cuda/small/small.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ceil_div.hpp"
#include "core/choose.hpp"
#include "core/cuda/launch.cuh"
#include "core/cuda/results.hpp"
#include "core/named_range.hpp"
#include "core/settled.hpp"
#include "core/stopwatch.hpp"
#include "solvers/devices/cuda/small/by_leaf.cuh"
#include "solvers/devices/cuda/small/eliminate.cuh"
#include "solvers/devices/cuda/small/substitute.cuh"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

namespace {

/// f(the shape for n × n).
template <class T, class F>
auto with_shape(std::int64_t n, F f) {
  if (n <= 32) return f(SmallShape<T, 32>());
  if (n <= 64) return f(SmallShape<T, 64>());
  return f(SmallShape<T, 128>());
}
template <class Shape>
constexpr std::size_t bytes_of_small = std::max(sizeof(SmallShared<Shape>), sizeof(SmallSolveShared<Shape>));

/// Bytes of shared memory that both kernels need at most; none where n is too large for them.
template <class T>
std::optional<std::size_t> shared_memory_for(std::int64_t n) {
  if (n > 128) return {};
  return with_shape<T>(n, []<class Shape>(Shape) { return bytes_of_small<Shape>; });
}

/// Whether a Cholesky leaf factors n × n where A allows it.
template <class T>
bool goes_by_leaf(const Queue<Cuda>& q, Method method, std::int64_t n) {
  using Leaf = CholeskyShape<T, 2>;
  return (method == Method::automatic || record_of(method).is_symmetric) && n > q.tuning().small_cholesky_order &&
         n <= Leaf::order && cholesky_leaf_steps<T>(q.properties()) == Leaf::steps;
}

/// What a kernel took, with its launch and the wait for it, of the `waited` seconds of the host. These are tens of microseconds: what
/// is longer was the work of a caller that the queue came after.
double seconds_of(double kernel, double waited) { return std::min(waited, kernel + 50e-6); }

/// So that each part of the memory of a system begins where chunks may be read.
constexpr std::int64_t aligned(std::int64_t elements) { return round_up(elements, 32); }

}  // namespace

template <class T>
bool SmallSystemOnCuda<T>::fits(const Queue<Cuda>& q, std::int64_t n, const Options& options) {
  const Method method = options.factorization;
  const bool by_name = method != Method::automatic, is_symmetric = by_name && record_of(method).is_symmetric;
  const Tuning& t = q.tuning();
  if (n == 0 || n > t.small_system_order) return false;
  if (options.triangle != Uplo::both && !is_symmetric) return false;
  if (is_symmetric && n > t.small_cholesky_order && !goes_by_leaf<T>(q, method, n)) return false;
  const auto shared = shared_memory_for<T>(n);
  if (!shared || *shared > q.shared_memory()) return false;
  for (const Method one : automatic_methods) {
    const MethodRecord& record = record_of(one);
    if (n > record.widths(t, {.schedule = record.default_schedule(t, false), .storage = precision_of<T>, .n = n}).panel)
      return false;
  }
  return true;
}

template <class T>
std::int64_t SmallSystemOnCuda<T>::most_right_hand_sides(const Queue<Cuda>& q) {
  return 2 * q.multiprocessors();
}

template <class T>
SmallSystemOnCuda<T>::SmallSystemOnCuda(std::int64_t n) : factors_{nullptr, nullptr, nullptr, int(n)} {
  const std::int64_t of_A = aligned(n * n), of_LU = aligned(factors_.elements()), of_rows = aligned(n);
  memory_ = Matrix<T, Cuda>(of_A + of_LU + of_rows + aligned(1), 1);
  factors_.A = memory_.data(), factors_.LU = factors_.A + of_A;
  factors_.rows = reinterpret_cast<int*>(factors_.LU + of_LU);
  attempt_ = reinterpret_cast<SmallAttempt*>(factors_.LU + of_LU + of_rows);
}

template <class T>
bool SmallSystemOnCuda<T>::factor(Queue<Cuda>& q, MatrixView<const T, Cuda> A, const Recipes& recipes, Uplo triangle,
                                  Recipe& by, Facts& facts) {
  const NamedRange<Cuda> range("lasolve factor");
  const Settled settled(q);
  const Stopwatch watch;
  const Results<SmallEnding> results(q, 1);
  results.expect();
  const Recipe& first = recipes.first();
  const bool looks = first.symmetry == Symmetry::before;  // that is seen to by the kernel
  const Method method = looks ? Method::automatic : first.method;
  const SmallTask<T> task{A.data(), A.ld(), method, triangle, first.finite};
  const bool by_leaf = goes_by_leaf<T>(q, method, factors_.n);
  if (by_leaf) {
    using Leaf = CholeskyShape<T, 2>;
    launch(q, factor_small_by_leaf<Leaf>, Blocks::independent, dim3(1), Leaf::threads, sizeof(CholeskyShared<Leaf>),
           task, factors_, MatrixView<T, Cuda>(factors_.A, factors_.n, factors_.n, factors_.n), attempt_,
           results.data());
  }
  if (!by_leaf || looks)
    with_shape<T>(factors_.n, [&]<class Shape>(Shape) {
      launch(q, factor_small<Shape>, Blocks::independent, dim3(1), Shape::threads, sizeof(SmallShared<Shape>), task,
             factors_, by_leaf ? attempt_ : nullptr, results.data());
    });
  const SmallEnding ending = results.values()[0];
  const double seconds = seconds_of(ending.seconds, watch.seconds()), n = double(factors_.n);
  if (!ending.usual || (first.in_place && ending.not_positive > 0)) return false;
  if (ending.least < n * unit_roundoff_of(precision_of<T>) * ending.most) return false;
  by = ending.cholesky || !looks ? first : *recipes.after(first, Reason::not_positive_definite);
  facts.n = factors_.n, facts.range_of_pivots = range_of_pivots(ending.least, ending.most, 1);
  if (ending.not_positive > 0)
    facts.notes.push_back(lu_was_used(why_no_cholesky({Outcome::not_positive_definite, ending.not_positive})));
  const double looking = seconds * ending.part_of_look;
  facts.factor_seconds = seconds - looking;
  PhaseTimes times;
  times.seconds_of(task.requires_finite ? Phase::check : Phase::other) = looking;
  times.seconds_of(Phase::panel) = facts.factor_seconds;
  times.flops[std::size_t(Phase::panel)] = record_of(by.method).flops(n);
  facts.times.add(times);
  if (task_watcher()) tell_at_once(by.method, by.schedule, facts.n, steady_seconds() - seconds, steady_seconds());
  return true;
}

template <class T>
bool SmallSystemOnCuda<T>::solve(Queue<Cuda>& q, MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, bool check,
                                 Matrix<T, Cuda>& kept, SolveFacts& facts) {
  const NamedRange<Cuda> range("lasolve solve");
  const Settled settled(q);
  const Stopwatch watch;
  const std::int64_t nrhs = B.cols();
  if (check && static_cast<const void*>(B.data()) == X.data()) kept = Matrix<T, Cuda>(B.rows(), nrhs, B.rows());
  const Results<SmallNorms> results(q, nrhs);
  results.expect();
  const SmallRhs<T> rhs{B.data(), X.data(), kept.data(), B.ld(), X.ld(), op != Op::none, check};
  with_shape<T>(factors_.n, [&]<class Shape>(Shape) {
    launch(q, solve_small<Shape>, Blocks::independent, dim3(unsigned(nrhs)), Shape::threads,
           sizeof(SmallSolveShared<Shape>), factors_, rhs, results.data());
  });
  const std::vector<SmallNorms> norms = results.values();
  const double waited = watch.seconds();
  std::uint64_t began = norms[0].begin, ended = norms[0].end;
  for (const SmallNorms& of : norms) began = std::min(began, of.begin), ended = std::max(ended, of.end);
  const double seconds = seconds_of(1e-9 * double(ended - began), waited);
  double error = 0, checking = 0;
  for (const auto& [b, x, r, a, part_of_check, begin, end, written] : norms) {
    if (!check) break;
    checking = std::max(checking, seconds * part_of_check);
    const long double size = static_cast<long double>(a) * x + b;
    if (!std::isfinite(size) || may_overflow<T>(a, x) || exponent_of_subnormal<T>(a) != 0) return false;
    error = larger(error, backward_error(a, r, x, b));
  }
  if (check && !passes(error, factors_.n, facts.roundoff)) return false;
  if (check) facts.backward_error = error;
  PhaseTimes times;
  times.seconds_of(Phase::solve) = seconds - checking, times.seconds_of(Phase::check) = checking;
  times.flops[std::size_t(Phase::solve)] = 2.0 * double(B.rows()) * double(B.rows()) * double(nrhs);
  facts.times.add(times);
  return true;
}

#define LASOLVE_INSTANTIATE(T) template class SmallSystemOnCuda<T>;
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
