// The solver on CUDA.
#include "solvers/driver/engine.hpp"

#include <algorithm>
#include <cmath>

#include "core/cuda/arrival.hpp"
#include "core/kept_queue.hpp"
#include "core/likely_method.hpp"
#include "core/memory_kind.hpp"
#include "core/settled.hpp"
#include "core/stopwatch.hpp"
#include "core/transfer.hpp"
#include "solvers/devices/cuda/async.hpp"
#include "solvers/devices/cuda/by_columns.cuh"
#include "solvers/devices/cuda/call.hpp"
#include "solvers/devices/cuda/estimate.cuh"
#include "solvers/devices/cuda/extra.cuh"
#include "solvers/devices/cuda/matrix_facts.cuh"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/devices/cuda/plan.cuh"
#include "solvers/devices/cuda/small/small.hpp"
#include "solvers/devices/cuda/trsm/out_of_place.cuh"
#include "solvers/devices/cuda/tuning.cuh"
#include "solvers/driver/solver.hpp"
#include "solvers/lu/cuda/perform.cuh"
#include "solvers/lu/cuda/row_interchanges.cuh"
#include "solvers/refine/check_by_columns.hpp"

namespace lasolve {

static_assert(HasPrimitives<double, Cuda> && HasPrimitives<float, Cuda>);

// For cards.cu, and the drop-in for LAPACK.
#define LASOLVE_INSTANTIATE(T)                                                                                     \
  template bool perform(Queue<Cuda>&, Queue<Cuda>&, Method, const Task&, const Workpiece<T, Cuda>&);               \
  template void apply_factors(Queue<Cuda>&, const Gemm<T, Cuda>&, const MethodRecord&, const MatrixView<T, Cuda>&, \
                              const Pivots<Cuda>&, MatrixView<const T, Cuda>, MatrixView<T, Cuda>, Op);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

namespace {

/// `tuning`: that of the queue.
template <class T>
Recipes recipes_for(Queue<Cuda>& q, const Problem& problem, const GemmBackend<Cuda>& gemm, const Options& options) {
  const std::int64_t most = std::min(widest_panel<T>(q), cholesky_leaf_columns(q, MatrixView<T, Cuda>()));
  const bool fits = problem.n <= most && !gemm.small && SmallSystemOnCuda<T>::fits(q, problem.n, options);
  return resolve(options, problem, means_of(gemm, options, q.tuning(), fits));
}

template <class T>
class CudaEngine final : public Engine<T> {
 public:
  /// `owned`: the memory of A where it is ours and the solver has not got it. `from`: what is still to be copied to A. `since`: when a
  /// copy of A that nobody has waited for began.
  CudaEngine(SharedContext its, const Tuning& tuning, Given<T, Cuda> A, Matrix<T, Cuda> owned,
             std::optional<MatrixView<const T, Cpu>> from, MatrixView<T, Cuda> to, const GemmBackend<Cuda>& gemm,
             const Recipes& recipes, const Options& options, Facts start, std::optional<Stopwatch> since = {})
      : its_(std::move(its)),
        tuning_(tuning),
        owned_(std::move(owned)),
        solver_(*its_->q, gemm, std::move(A), recipes, options, std::move(start)) {
    if (from) {
      arrival_ = std::make_unique<Arrival>(*its_->q, *from, to);
      solver_.factor([this](Queue<Cuda>& q, std::int64_t columns) { arrival_->await(q, columns); });
      solver_.spent(Phase::to_device, arrival_->seconds());
      arrival_.reset();
    } else {
      solver_.factor({}, since);
    }
    if (owned_.bytes() > 0 && !recipes.first().reads_A_again() && !recipes.first().is_coarse()) {
      solver_.release_A();
      owned_ = {};
    }
  }

  const Report& report() override {
    if (solver_.leaves_condition()) {
      const Call call(*its_, tuning_);
      solver_.complete_report();
    }
    return solver_.report();
  }
  const Recipe& recipe() const override { return solver_.recipe(); }
  /// For who has a Call.
  Solver<T, Cuda>& solver() { return solver_; }

  double rcond() override {
    const Call call(*its_, tuning_);
    return solver_.rcond();
  }

  Report solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op, CUstream_st* after) override {
    require_on_device("B", Ends(B.view), its_->q->device());
    require_on_device("X", Ends(X.view), its_->q->device());
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, after);
    return solve_by_columns(*its_->q, B, X, [&](auto b, auto x) { return solver_.solve(b, x, op); });
  }

  void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*> after) override {
    const Call call(*its_, tuning_);
    if (after) wait_for_caller(*its_, *after);
    solver_.with_triangles(use);
  }

  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Call call(*its_, tuning_);
    const Stopwatch solving;
    Queue<Cuda>& q = *its_->q;
    Matrix<T, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
    const Settled settled(q);
    q.phase(Phase::to_device);
    copy<T>(q, B, dB);
    Report report = solver_.solve(dB.view(), dX.view(), op, solving);
    q.phase(Phase::to_host);
    copy<T>(q, dX, X);
    Times copying;
    copying.take(q);
    add_times(report, copying);
    return report;
  }

 private:
  SharedContext its_;
  Tuning tuning_;
  Matrix<T, Cuda> owned_;
  Solver<T, Cuda> solver_;
  std::unique_ptr<Arrival> arrival_;  // ends before the memory that it writes
};

/// Of a small system. What is out of the ordinary is left to the other engine, which then has all that follows.
template <class T>
class SmallCudaEngine final : public Engine<T> {
 public:
  SmallCudaEngine(SharedContext its, const Tuning& tuning, std::int64_t n, const GemmBackend<Cuda>& gemm,
                  const Recipes& recipes, const Options& options)
      : its_(std::move(its)), tuning_(tuning), gemm_(gemm), recipes_(recipes), options_(options), system_(n) {}
  /// False: it is not for this engine. In place, A is as if it were overwritten.
  bool factor(MatrixView<const T, Cuda> A, Facts& facts) {
    start_ = {.outcome = facts.outcome, .device = facts.device, .notes = facts.notes};
    if (!system_.factor(*its_->q, A, recipes_, options_.triangle, by_, facts)) return false;
    tell_recipe(recipes_, by_);
    facts.gemm = gemm_.name;
    if (std::exchange(options_.check, by_.check) != by_.check)
      for (Facts* of : {&facts, &start_}) of->notes.push_back(not_checked_in_place);
    if (by_.estimates_condition(facts.range_of_pivots, by_.precision.unit_roundoff()) && !is_well_conditioned(facts)) {
      facts.notes = start_.notes;
      return false;
    }
    if (options_.progress) options_.progress(1);
    facts_ = std::move(facts);
    write_report(report_, by_, Facts(facts_));
    return true;
  }

  const Report& report() override { return report_; }
  const Recipe& recipe() const override { return by_; }

  double rcond() override {
    const Call call(*its_, tuning_);
    if (!facts_.rcond) {
      facts_.rcond = other().rcond();
      write_report(report_, by_, Facts(facts_));
    }
    return *facts_.rcond;
  }

  Report solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op, CUstream_st* after) override {
    require_on_device("B", Ends(B.view), its_->q->device());
    require_on_device("X", Ends(X.view), its_->q->device());
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, after);
    return solve_by_columns(*its_->q, B, X, [&](auto b, auto x) { return solve_there(b, x, op); });
  }

  void with_triangles(const std::function<void(Triangles<T>&)>& use, std::optional<CUstream_st*> after) override {
    const Call call(*its_, tuning_);
    if (after) wait_for_caller(*its_, *after);
    other().with_triangles(use);
  }

  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Call call(*its_, tuning_);
    Queue<Cuda>& q = *its_->q;
    Matrix<T, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
    const Settled settled(q);
    Times copying;
    q.phase(Phase::to_device);
    copy<T>(q, B, dB);
    copying.take(q);
    Report report = solve_there(std::as_const(dB).view(), dX.view(), op);
    q.phase(Phase::to_host);
    copy<T>(q, std::as_const(dX).view(), X);
    copying.take(q);
    add_times(report, copying);
    return report;
  }

 private:
  Report solve_there(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op) {
    Queue<Cuda>& q = *its_->q;
    SolveFacts facts{facts_.outcome, B.cols(), by_.refine, by_.roundoff_of_solutions()};
    if (B.empty() && by_.check) facts.backward_error = 0;
    if (B.empty()) return report_of(report_, std::move(facts));
    const Stopwatch watch;
    Matrix<T, Cuda> kept;
    const SolveRecipe by =
        resolve(by_, {.n = B.rows(), .nrhs = B.cols(), .most_of_a_leaf = system_.most_right_hand_sides(q)});
    tell_recipe(by);
    if (by.executor == Executor::leaf && system_.solve(q, B, X, op, by_.check, kept, facts))
      return report_of(report_, std::move(facts));
    const double in_vain = watch.seconds();
    const bool makes = !other_;
    Report report;
    try {
      report = other().solve(kept.bytes() == 0 ? B : std::as_const(kept).view(), X, op);
    } catch (...) {
      if (makes) other_.reset();  // a solve that throws leaves the factorization as it was
      throw;
    }
    const double before = in_vain + (makes ? other_->report().total_seconds : 0);
    report.phases.seconds_of(Phase::other) += before, report.total_seconds += before;
    return report;
  }
  /// The condition is estimated, and leaves no doubt.
  bool is_well_conditioned(Facts& facts) {
    Queue<Cuda>& q = *its_->q;
    const std::int64_t n = system_.A().rows();
    const Settled settled(q);
    q.phase(Phase::check);
    const long double norm = KnownMatrix<T, Cuda>(system_.A(), Uplo::both).norm(q, Op::transpose);
    const auto solve = [&](int exponent, MatrixView<double> X, Op op) {
      Matrix<T> here(n, X.cols());
      for (std::int64_t j = 0; j < X.cols(); ++j)
        for (std::int64_t i = 0; i < n; ++i) here(i, j) = T(std::ldexp(X(i, j), exponent));
      Matrix<T, Cuda> there(n, X.cols()), kept;
      copy<T>(q, here, there);
      SolveFacts unused{facts.outcome, X.cols(), Refine::none, by_.roundoff_of_solutions()};
      system_.solve(q, std::as_const(there).view(), there.view(), op, false, kept, unused);
      copy<T>(q, std::as_const(there).view(), here.view());
      q.finish();
      for (std::int64_t j = 0; j < X.cols(); ++j) std::copy_n(&here(0, j), n, &X(0, j));
    };
    facts.rcond = reciprocal_condition_on_host(n, norm, exponents_of<T>, solve);
    facts.times.take(q);
    return *facts.rcond >= by_.roundoff_of_solutions();
  }
  /// For who has a Call.
  Solver<T, Cuda>& other() {
    if (!other_) {
      const Given<T, Cuda> A(system_.A());
      const Recipes recipes = resolve(options_, problem_of(A), means_of(gemm_, options_, tuning_, false));
      other_ = std::make_unique<CudaEngine<T>>(its_, tuning_, Given<T, Cuda>(system_.A()), Matrix<T, Cuda>(),
                                               std::nullopt, MatrixView<T, Cuda>(), gemm_, recipes, options_, start_);
    }
    return other_->solver();
  }

  SharedContext its_;
  Tuning tuning_;
  const GemmBackend<Cuda>& gemm_;
  const Recipes recipes_;
  Options options_;
  Recipe by_;
  Facts start_, facts_;
  Report report_;
  SmallSystemOnCuda<T> system_;
  std::unique_ptr<CudaEngine<T>> other_;
};

/// That of a small system, or null: something is out of the ordinary. Within a Call. Then `start` has what it took to find that out,
/// and `recipes` are those without a leaf.
template <class T>
std::unique_ptr<Engine<T>> small_engine(const SharedContext& its, const Tuning& tuning, MatrixView<const T, Cuda> A,
                                        const Problem& problem, const GemmBackend<Cuda>& gemm, Recipes& recipes,
                                        const Options& options, Facts& start) {
  if (recipes.first().executor != Executor::leaf) return nullptr;
  auto small = std::make_unique<SmallCudaEngine<T>>(its, tuning, A.rows(), gemm, recipes, options);
  const Stopwatch watch;
  if (small->factor(A, start)) return small;
  const double in_vain = watch.seconds();
  start.times.phases.seconds_of(Phase::other) += in_vain, start.times.total_seconds += in_vain;
  recipes = resolve(options, problem, means_of(gemm, options, tuning, false));
  return nullptr;
}

}  // namespace

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cuda> A, const GemmBackend<Cuda>& gemm, const Options& options,
                                       Facts start, CUstream_st* after, SharedContext its) {
  require_on_device("A", Ends(A.A), options.device.index);
  if (!its) its = own_context(options.device.index);
  const Call call(*its);
  const Tuning tuning = tuned(*its, options);
  wait_for_caller(*its, after);
  const Problem problem = problem_of(A);
  Recipes recipes = recipes_for<T>(*its->q, problem, gemm, options);
  if (auto small = small_engine(its, tuning, A.A, problem, gemm, recipes, options, start)) return small;
  Matrix<T, Cuda> copy;
  const Settled settled(*its->q);
  if (A.may_end) {
    copy = Matrix<T, Cuda>(A.A.rows(), A.A.cols());
    its->q->phase(Phase::other);
    convert(*its->q, A.A, copy.view());
    A = Given<T, Cuda>(std::as_const(copy).view());
  }
  return std::make_unique<CudaEngine<T>>(its, tuning, std::move(A), std::move(copy), std::nullopt,
                                         MatrixView<T, Cuda>(), gemm, recipes, options, std::move(start));
}

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cuda>& gemm, const Options& options,
                                       Facts start, SharedContext its) {
  Problem problem = problem_of(A);
  problem.from_host = true;
  problem.glance = options.triangle == Uplo::both ? likely_method(problem.n, A.A) : Method::cholesky;
  if (!its) its = own_context(options.device.index);
  const Call call(*its);
  const Tuning tuning = tuned(*its, options);
  Queue<Cuda>& q = *its->q;
  Recipes recipes = recipes_for<T>(q, problem, gemm, options);
  q.phase(Phase::to_device);
  Matrix<T, Cuda> dA(A.A.rows(), A.A.cols());
  const Settled settled(q);
  const MatrixView<T, Cuda> to = dA;
  std::optional<MatrixView<const T, Cpu>> from;
  std::optional<Stopwatch> since;
  if (recipes.first().arrives)
    from = A.A;
  else
    since.emplace(), copy<T>(q, A.A, to);
  if (recipes.first().executor == Executor::leaf) {
    start.times.take(q), since.reset();
    if (auto small = small_engine(its, tuning, std::as_const(dA).view(), problem, gemm, recipes, options, start))
      return small;
  }
  Given<T, Cuda> on_device =
      recipes.first().in_place ? Given<T, Cuda>(std::move(dA)) : Given<T, Cuda>(std::as_const(dA).view());
  return std::make_unique<CudaEngine<T>>(its, tuning, std::move(on_device), std::move(dA), from, to, gemm, recipes,
                                         options, std::move(start), since);
}

template <class T>
std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda> A, const GemmBackend<Cuda>& gemm,
                                                  const Options& options, SharedContext its) {
  require_on_device("A", Ends(A.A), options.device.index);
  its = where_captured(its);
  const Call call(*its);
  const Tuning tuning = tuned(*its, options);
  // What is refused is so before the queue is captured, too: then a capture could not end any more.
  const Recipe by = require_decided<T>(resolve(options, problem_of(A), means_of(gemm, options, tuning, false)).first());
  require(!A.factored || *A.factored || record_of(by.method).interchanges(A.A.rows()) == 0,
          "factors of LU come with the interchanges of their rows, and there are none");
  wait_for_caller(*its, nullptr);
  return std::make_unique<CudaAsync<T>>(its, tuning, by, std::move(A), gemm, options.triangle);
}

LASOLVE_ELEMENTS(LASOLVE_ENGINES_ON_CUDA)

template <>
Checked check_again(Queue<Cuda>& q, const Supply<double, Cuda>& A, Op op, Uplo triangle, MatrixView<const double> B,
                    MatrixView<const double> X) {
  const CurrentDevice current(q);
  Matrix<double, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
  const Settled settled(q);
  copy<double>(q, B, dB);
  copy<double>(q, X, dX);
  return check_by_columns<double>(q, A, op, triangle, std::as_const(dB).view(), std::as_const(dX).view(),
                                  columns_at_once<double, Cuda>(B.rows()));
}

}  // namespace lasolve
