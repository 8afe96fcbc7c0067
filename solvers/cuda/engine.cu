// The solver on CUDA.
#include "solvers/engine.hpp"

#include "core/cuda/check.hpp"
#include "core/transfer.hpp"
#include "solvers/cuda/cholesky_panel.cuh"
#include "solvers/cuda/norms.cuh"
#include "solvers/cuda/panel.cuh"
#include "solvers/cuda/rows.cuh"
#include "solvers/cuda/triangle.cuh"
#include "solvers/cuda/tuning.cuh"
#include "solvers/solver.hpp"

namespace lasolve {

namespace {

template <class T>
class CudaEngine final : public Engine<T> {
 public:
  CudaEngine(std::unique_ptr<Queue<Cuda>> q, MatrixView<const T, Cuda> A, Matrix<T, Cuda> owned,
             const GemmBackend<Cuda>& gemm, const Options& options, Report start)
      : q_(std::move(q)), owned_(std::move(owned)), solver_(*q_, gemm, A, options, std::move(start)) {
    const bool read_again = options.check || solver_.report().refine != Refine::none;
    if (!read_again) owned_ = {};
  }

  const Report& report() const override { return solver_.report(); }

  Report solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op) override {
    const CurrentDevice current(q_->device());
    return solver_.solve(B, X, op);
  }

  Report solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) override {
    require(X.rows() == B.rows() && X.cols() == B.cols(), "the right-hand sides or the solutions have the wrong size");
    const CurrentDevice current(q_->device());
    q_->phase(Phase::to_device);
    Matrix<T, Cuda> dB(B.rows(), B.cols()), dX(B.rows(), B.cols());
    copy<T>(*q_, B, dB);
    Report report = solver_.solve(dB.view(), dX.view(), op);
    q_->phase(Phase::to_host);
    copy<T>(*q_, dX, X);
    take_times(*q_, report);
    return report;
  }

 private:
  std::unique_ptr<Queue<Cuda>> q_;
  Matrix<T, Cuda> owned_;
  Solver<T, Cuda> solver_;
};

}  // namespace

template <class T>
std::unique_ptr<Engine<T>> make_engine(MatrixView<const T, Cuda> A, const GemmBackend<Cuda>& gemm,
                                       const Options& options, Report start) {
  const CurrentDevice current(options.device.index);
  auto q = std::make_unique<Queue<Cuda>>(options.device.index);
  return std::make_unique<CudaEngine<T>>(std::move(q), A, Matrix<T, Cuda>(), gemm, options, std::move(start));
}

template <class T>
std::unique_ptr<Engine<T>> make_engine(MatrixView<const T, Cpu> A, const GemmBackend<Cuda>& gemm,
                                       const Options& options, Report start) {
  const CurrentDevice current(options.device.index);
  auto q = std::make_unique<Queue<Cuda>>(options.device.index);
  q->phase(Phase::to_device);
  Matrix<T, Cuda> dA(A.rows(), A.cols());
  copy<T>(*q, A, dA);
  const MatrixView<const T, Cuda> view = dA;
  return std::make_unique<CudaEngine<T>>(std::move(q), view, std::move(dA), gemm, options, std::move(start));
}

template std::unique_ptr<Engine<double>> make_engine(MatrixView<const double, Cpu>, const GemmBackend<Cuda>&,
                                                     const Options&, Report);
template std::unique_ptr<Engine<float>> make_engine(MatrixView<const float, Cpu>, const GemmBackend<Cuda>&,
                                                    const Options&, Report);
template std::unique_ptr<Engine<double>> make_engine(MatrixView<const double, Cuda>, const GemmBackend<Cuda>&,
                                                     const Options&, Report);
template std::unique_ptr<Engine<float>> make_engine(MatrixView<const float, Cuda>, const GemmBackend<Cuda>&,
                                                    const Options&, Report);

}  // namespace lasolve
