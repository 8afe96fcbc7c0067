// The solver on CUDA.
#include "solvers/driver/engine.hpp"

#include "core/cuda/arrival.hpp"
#include "core/kept_queue.hpp"
#include "core/settled.hpp"
#include "core/stopwatch.hpp"
#include "core/transfer.hpp"
#include "core/whereabouts.hpp"
#include "solvers/driver/solver.hpp"
#include "solvers/places/cuda/async.hpp"
#include "solvers/places/cuda/call.hpp"
#include "solvers/places/cuda/look.cuh"
#include "solvers/places/cuda/lu/row_interchanges.cuh"
#include "solvers/places/cuda/norms.cuh"
#include "solvers/places/cuda/panel.cuh"
#include "solvers/places/cuda/plan.cuh"
#include "solvers/places/cuda/small/small.hpp"
#include "solvers/places/cuda/trsm/out_of_place.cuh"
#include "solvers/places/cuda/tuning.cuh"
#include "solvers/refine/check_by_columns.hpp"

namespace lasolve {

static_assert(HasPrimitives<double, Cuda> && HasPrimitives<float, Cuda>);

namespace {

/// Whether A is read again when it has been factored.
template <class T>
bool is_read_again(const Options& options) {
  return options.check || is_coarser_than<T>(options.precision) || options.refine == Refine::classical;
}

/// LU if a look at the first rows shows that A is not symmetric with a positive diagonal, as it does for most that are
/// not. Else Cholesky, which is no certainty.
template <class T>
Method likely_method(MatrixView<const T, Cpu> A) {
  const std::int64_t some = std::min<std::int64_t>({A.rows(), A.cols(), 64});
  for (std::int64_t i = 0; i < some; ++i)
    if (!(A(i, i) > T(0)) || !equal_but_for_roundoff(A(i, 0), A(0, i), A(i, i), A(0, 0))) return Method::lu;
  return Method::cholesky;
}

/// Whether the factorization need not see all of A before it begins, and whether that pays. In place there is no later look.
inline bool can_begin_early(const Tuning& t, bool in_place, const Options& options, std::size_t bytes) {
  const bool looked_at_before =
      (options.check && !options.allow_nonfinite) || options.factorization == Method::automatic || options.condition;
  const SolvePrecision* const in = find_solve_precision(options.precision);
  const bool scaled = in && has_narrow_range(in->products);
  return bytes >= std::size_t(t.arriving_bytes) && !(in_place && looked_at_before) && !scaled;
}

template <class T>
class CudaEngine final : public Engine<T> {
 public:
  /// `owned`: the memory of A where it is ours and the solver has not got it. `from`: what is still to be copied to A. `likely`: the
  /// method by a look at a part of A. `since`: when a copy of A that nobody has waited for began.
  CudaEngine(SharedContext its, const Tuning& tuning, Given<T, Cuda> A, Matrix<T, Cuda> owned,
             std::optional<MatrixView<const T, Cpu>> from, MatrixView<T, Cuda> to, const GemmBackend<Cuda>& gemm,
             const Options& options, Facts start, Method likely = Method::automatic,
             std::optional<Stopwatch> since = {})
      : its_(std::move(its)),
        tuning_(tuning),
        owned_(std::move(owned)),
        solver_(*its_->q, gemm, std::move(A), options, std::move(start)) {
    if (from) {
      arrival_ = std::make_unique<Arrival>(*its_->q, *from, to);
      solver_.factor([this](Queue<Cuda>& q, std::int64_t columns) { arrival_->await(q, columns); }, likely);
      solver_.spent(Phase::to_device, arrival_->seconds());
      arrival_.reset();
    } else {
      solver_.factor({}, likely, since);
    }
    if (owned_.bytes() > 0 && !is_read_again<T>(options)) {
      solver_.release_A();
      owned_ = {};
    }
  }

  const Report& report() const override { return solver_.report(); }
  /// For who has a Call.
  Solver<T, Cuda>& solver() { return solver_; }

  double rcond() override {
    const Call call(*its_, tuning_);
    return solver_.rcond();
  }

  Report solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) override {
    require_on_device("B", Ends(B), its_->q->device());
    require_on_device("X", Ends(X), its_->q->device());
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, after);
    return solver_.solve(B, X, op);
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
                  const Options& options)
      : its_(std::move(its)), tuning_(tuning), gemm_(gemm), options_(options), system_(n) {}
  /// False: it is not for this engine. `in_place`: A was handed over, and is as if it were overwritten.
  bool factor(MatrixView<const T, Cuda> A, bool in_place, Facts& facts) {
    start_ = {.outcome = facts.outcome, .device = facts.device, .notes = facts.notes};
    if (!system_.factor(*its_->q, A, options_, in_place, by_, facts)) return false;
    facts.gemm = gemm_.name;
    if (in_place && std::exchange(options_.check, false))
      for (Facts* of : {&facts, &start_}) of->notes.push_back(not_checked_in_place);
    facts_ = std::move(facts);
    write_report(report_, by_, Facts(facts_));
    return true;
  }

  const Report& report() const override { return report_; }

  double rcond() override {
    const Call call(*its_, tuning_);
    if (!facts_.rcond) {
      facts_.rcond = other().rcond();
      write_report(report_, by_, Facts(facts_));
    }
    return *facts_.rcond;
  }

  Report solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) override {
    require_on_device("B", Ends(B), its_->q->device());
    require_on_device("X", Ends(X), its_->q->device());
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, after);
    return solve_there(B, X, op);
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
    if (B.empty() && options_.check) facts.backward_error = 0;
    if (B.empty()) return report_of(report_, std::move(facts));
    const Stopwatch watch;
    Matrix<T, Cuda> kept;
    if (system_.takes_sides(q, B.cols()) && system_.solve(q, B, X, op, options_.check, kept, facts))
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
  /// For who has a Call.
  Solver<T, Cuda>& other() {
    if (!other_) {
      other_ = std::make_unique<CudaEngine<T>>(its_, tuning_, Given<T, Cuda>(system_.A()), Matrix<T, Cuda>(),
                                               std::nullopt, MatrixView<T, Cuda>(), gemm_, options_, start_);
    }
    return other_->solver();
  }

  SharedContext its_;
  Tuning tuning_;
  const GemmBackend<Cuda>& gemm_;
  Options options_;
  Decided by_;
  Facts start_, facts_;
  Report report_;
  SmallSystemOnCuda<T> system_;
  std::unique_ptr<CudaEngine<T>> other_;
};

template <class T>
bool is_small(const Queue<Cuda>& q, std::int64_t n, const GemmBackend<Cuda>& gemm, const Options& options) {
  const std::int64_t most = std::min(widest_panel<T>(q), cholesky_leaf_columns(q, MatrixView<T, Cuda>()));
  return SmallSystemOnCuda<T>::takes(q, n, most, gemm, options);
}

/// That of a small system, or null: A is none, or something is out of the ordinary. Within a Call. Then `start` has what it took to
/// find that out.
template <class T>
std::unique_ptr<Engine<T>> small_engine(const SharedContext& its, const Tuning& tuning, MatrixView<const T, Cuda> A,
                                        bool in_place, const GemmBackend<Cuda>& gemm, const Options& options,
                                        Facts& start) {
  if (!is_small<T>(*its->q, A.rows(), gemm, options)) return nullptr;
  auto small = std::make_unique<SmallCudaEngine<T>>(its, tuning, A.rows(), gemm, options);
  const Stopwatch watch;
  if (small->factor(A, in_place, start)) return small;
  const double in_vain = watch.seconds();
  start.times.phases.seconds_of(Phase::other) += in_vain, start.times.total_seconds += in_vain;
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
  if (auto small = small_engine(its, tuning, A.A, A.memory.has_value(), gemm, options, start)) return small;
  return std::make_unique<CudaEngine<T>>(its, tuning, std::move(A), Matrix<T, Cuda>(), std::nullopt,
                                         MatrixView<T, Cuda>(), gemm, options, std::move(start));
}

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cuda>& gemm, const Options& wanted,
                                       Facts start, SharedContext its) {
  Options options = wanted;
  const Method likely = options.triangle == Uplo::both ? likely_method(A.A) : Method::cholesky;
  if (options.factorization == Method::automatic && likely == Method::lu) options.factorization = Method::lu;
  if (!its) its = own_context(options.device.index);
  const Call call(*its);
  const Tuning tuning = tuned(*its, options);
  Queue<Cuda>& q = *its->q;
  q.phase(Phase::to_device);
  Matrix<T, Cuda> dA(A.A.rows(), A.A.cols());
  const Settled settled(q);
  const MatrixView<T, Cuda> to = dA;
  std::optional<MatrixView<const T, Cpu>> from;
  const bool in_place = A.memory || (!is_read_again<T>(options) && options.factorization != Method::automatic);
  std::optional<Stopwatch> since;
  if (can_begin_early(tuning, in_place, options, dA.bytes()))
    from = A.A;
  else
    since.emplace(), copy<T>(q, A.A, to);
  if (!from && is_small<T>(q, dA.rows(), gemm, options)) {
    start.times.take(q), since.reset();
    if (auto small = small_engine(its, tuning, std::as_const(dA).view(), in_place, gemm, options, start)) return small;
  }
  Given<T, Cuda> on_device = in_place ? Given<T, Cuda>(std::move(dA)) : Given<T, Cuda>(std::as_const(dA).view());
  return std::make_unique<CudaEngine<T>>(its, tuning, std::move(on_device), std::move(dA), from, to, gemm, options,
                                         std::move(start), likely, since);
}

template <class T>
std::unique_ptr<AsyncEngine<T>> make_async_engine(Given<T, Cuda> A, const GemmBackend<Cuda>& gemm,
                                                  const Options& options, const SolvePrecision& in, SharedContext its) {
  require_on_device("A", Ends(A.A), options.device.index);
  const Call call(*its);
  const Tuning tuning = tuned(*its, options);
  wait_for_caller(*its, nullptr);
  return std::make_unique<CudaAsync<T>>(its, tuning, std::move(A), gemm, options, in);
}
template std::unique_ptr<AsyncEngine<double>> make_async_engine(Given<double, Cuda>, const GemmBackend<Cuda>&,
                                                                const Options&, const SolvePrecision&, SharedContext);
template std::unique_ptr<AsyncEngine<float>> make_async_engine(Given<float, Cuda>, const GemmBackend<Cuda>&,
                                                               const Options&, const SolvePrecision&, SharedContext);

template std::unique_ptr<Engine<double>> make_engine(Given<double, Cpu>, const GemmBackend<Cuda>&, const Options&,
                                                     Facts, SharedContext);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cpu>, const GemmBackend<Cuda>&, const Options&, Facts,
                                                    SharedContext);
template std::unique_ptr<Engine<double>> make_engine(Given<double, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                     Facts, CUstream_st*, SharedContext);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cuda>, const GemmBackend<Cuda>&, const Options&, Facts,
                                                    CUstream_st*, SharedContext);

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
