// The solver on CUDA.
#include "solvers/driver/engine.hpp"

#include "core/cuda/arrival.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/kept_queue.hpp"
#include "core/cuda/memory_in_order.hpp"
#include "core/transfer.hpp"
#include "core/whereabouts.hpp"
#include "solvers/driver/solver.hpp"
#include "solvers/places/cuda/lu/row_interchanges.cuh"
#include "solvers/places/cuda/norms.cuh"
#include "solvers/places/cuda/panel.cuh"
#include "solvers/places/cuda/trsm/triangle.cuh"
#include "solvers/places/cuda/tuning.cuh"
#include "solvers/refine/check_by_columns.hpp"
#include "solvers/refine/settled.hpp"

namespace lasolve {

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
    if (A(i, 0) != A(0, i) || !(A(i, i) > T(0))) return Method::lu;
  return Method::cholesky;
}

/// Whether the factorization need not see all of A before it begins, and whether that pays. In place there is no later look.
inline bool can_begin_early(const Tuning& t, bool in_place, const Options& options, std::size_t bytes) {
  const bool looked_at_before =
      (options.check && !options.allow_nonfinite) || options.factorization == Method::automatic || options.condition;
  return bytes >= std::size_t(t.arriving_bytes) && !(in_place && looked_at_before);
}

/// A call that works on a queue: its device is the current one, and memory is in its order.
class Call {
 public:
  explicit Call(const Queue<Cuda>& q) : current_(q), memory_(q.device(), q.stream()) {}

 private:
  CurrentDevice current_;
  MemoryInOrderOf memory_;
};

template <class T>
class CudaEngine final : public Engine<T> {
 public:
  /// `owned`: the memory of A where it is ours and the solver has not got it. `from`: what is still to be copied to A.
  CudaEngine(KeptQueue q, Given<T, Cuda> A, Matrix<T, Cuda> owned, std::optional<MatrixView<const T, Cpu>> from,
             MatrixView<T, Cuda> to, const GemmBackend<Cuda>& gemm, const Options& options, Report start)
      : q_(std::move(q)), owned_(std::move(owned)), solver_(*q_, gemm, std::move(A), options, std::move(start)) {
    if (from) {
      arrival_ = std::make_unique<Arrival>(*q_, *from, to);
      solver_.factor([this](Queue<Cuda>& q, std::int64_t columns) { arrival_->await(q, columns); },
                     likely_method(*from));
      solver_.spent(Phase::to_device, arrival_->seconds());
      arrival_.reset();
    } else {
      solver_.factor();
    }
    if (owned_.bytes() > 0 && !is_read_again<T>(options)) {
      solver_.release_A();
      owned_ = {};
    }
  }

  const Report& report() const override { return solver_.report(); }

  double rcond() override {
    const Call call(*q_);
    return solver_.rcond();
  }

  Report solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) override {
    require_on_device("B", Ends(B), q_->device());
    require_on_device("X", Ends(X), q_->device());
    const Call call(*q_);
    q_->wait(after);
    return solver_.solve(B, X, op);
  }

  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    const Call call(*q_);
    Matrix<T, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
    const Settled settled(*q_);
    q_->phase(Phase::to_device);
    copy<T>(*q_, B, dB);
    Report report = solver_.solve(dB.view(), dX.view(), op);
    q_->phase(Phase::to_host);
    copy<T>(*q_, dX, X);
    take_times(*q_, report);
    return report;
  }

 private:
  KeptQueue q_;
  Matrix<T, Cuda> owned_;
  Solver<T, Cuda> solver_;
  std::unique_ptr<Arrival> arrival_;  // ends before the memory that it writes
};

}  // namespace

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cuda> A, const GemmBackend<Cuda>& gemm, const Options& options,
                                       Report start, CUstream_st* after) {
  require_on_device("A", Ends(A.A), options.device.index);
  KeptQueue q = keep_queue(options.device.index);
  const Call call(*q);
  tune_for(*q, options);
  q->wait(after);
  return std::make_unique<CudaEngine<T>>(std::move(q), std::move(A), Matrix<T, Cuda>(), std::nullopt,
                                         MatrixView<T, Cuda>(), gemm, options, std::move(start));
}

template <class T>
std::unique_ptr<Engine<T>> make_engine(Given<T, Cpu> A, const GemmBackend<Cuda>& gemm, const Options& wanted,
                                       Report start) {
  Options options = wanted;
  if (options.factorization == Method::automatic && likely_method(A.A) == Method::lu)
    options.factorization = Method::lu;
  KeptQueue q = keep_queue(options.device.index);
  const Call call(*q);
  tune_for(*q, options);
  q->phase(Phase::to_device);
  Matrix<T, Cuda> dA(A.A.rows(), A.A.cols());
  const MatrixView<T, Cuda> to = dA;
  std::optional<MatrixView<const T, Cpu>> from;
  const bool in_place = A.memory || (!is_read_again<T>(options) && options.factorization != Method::automatic);
  if (can_begin_early(q->tuning(), in_place, options, dA.bytes()))
    from = A.A;
  else
    copy<T>(*q, A.A, to);
  Given<T, Cuda> on_device = in_place ? Given<T, Cuda>(std::move(dA)) : Given<T, Cuda>(std::as_const(dA).view());
  return std::make_unique<CudaEngine<T>>(std::move(q), std::move(on_device), std::move(dA), from, to, gemm, options,
                                         std::move(start));
}

template std::unique_ptr<Engine<double>> make_engine(Given<double, Cpu>, const GemmBackend<Cuda>&, const Options&,
                                                     Report);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cpu>, const GemmBackend<Cuda>&, const Options&,
                                                    Report);
template std::unique_ptr<Engine<double>> make_engine(Given<double, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                     Report, CUstream_st*);
template std::unique_ptr<Engine<float>> make_engine(Given<float, Cuda>, const GemmBackend<Cuda>&, const Options&,
                                                    Report, CUstream_st*);

template <>
void check_again(Queue<Cuda>& q, const Supply<double, Cuda>& A, Op op, Uplo triangle, MatrixView<const double> B,
                 MatrixView<const double> X, Report& report) {
  const CurrentDevice current(q);
  Matrix<double, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
  const Settled settled(q);
  copy<double>(q, B, dB);
  copy<double>(q, X, dX);
  check_by_columns<double>(q, A, op, triangle, std::as_const(dB).view(), std::as_const(dX).view(),
                           columns_at_once<double, Cuda>(B.rows()), report);
}

}  // namespace lasolve
