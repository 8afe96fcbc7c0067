// The public entry points: choose a backend, make the engine at its place.
#include "core/choose.hpp"
#include "solvers/engine.hpp"

namespace lasolve {

namespace {

Report start_of(const Choice& choice) {
  Report report;
  report.device = choice.device();
  report.notes = choice.notes;
  return report;
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cpu> A, Options options) {
  const Choice choice = choose(options);
  options.device.index = choice.cuda_device;
  return std::visit([&](const auto* gemm) { return make_engine<T>(std::move(A), *gemm, options, start_of(choice)); },
                    choice.backend);
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cuda> A, Options options) {
  if (options.device.kind == Device::automatic) options.device.kind = Device::cuda;
  const Choice choice = choose(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  return make_engine<T>(std::move(A), *std::get<1>(choice.backend), options, start_of(choice));
}

template <class T>
Report solve_once(MatrixView<const T> A, MatrixView<const T> B, MatrixView<T> X, const Options& options, Op op) {
  require(A.rows() == A.cols(), "the matrix is not square");
  require(B.rows() == A.rows() && X.rows() == A.rows() && B.cols() == X.cols(),
          "the right-hand sides or the solutions have the wrong size");
  Factorization<T> factors(A, options);
  Report solved = factors.solve(B, X, op);
  return together(factors.report(), std::move(solved));
}

}  // namespace

template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cpu> A, const Options& options)
    : engine_(engine_for(Given<T, Cpu>(A), options)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cpu>&& A, const Options& options)
    : engine_(engine_for(Given<T, Cpu>(std::move(A)), options)) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cuda> A, const Options& options)
    : engine_(engine_for(Given<T, Cuda>(A), options)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options)
    : engine_(engine_for(Given<T, Cuda>(std::move(A)), options)) {}
template <class T>
Factorization<T>::Factorization(Factorization&&) noexcept = default;
template <class T>
Factorization<T>& Factorization<T>::operator=(Factorization&&) noexcept = default;
template <class T>
Factorization<T>::~Factorization() = default;

template <class T>
const Report& Factorization<T>::report() const {
  return engine_->report();
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) {
  return engine_->solve(B, X, op);
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op) {
  return engine_->solve(B, X, op);
}

template class Factorization<double>;
template class Factorization<float>;

Report solve(MatrixView<const double> A, MatrixView<const double> B, MatrixView<double> X, const Options& options,
             Op op) {
  return solve_once(A, B, X, options, op);
}
Report solve(MatrixView<const float> A, MatrixView<const float> B, MatrixView<float> X, const Options& options, Op op) {
  return solve_once(A, B, X, options, op);
}

}  // namespace lasolve
