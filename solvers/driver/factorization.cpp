// The public entry points: choose a backend, make the engine at its place.
#include <cstdint>

#include "core/choose.hpp"
#include "core/whereabouts.hpp"
#include "solvers/driver/engine.hpp"

namespace lasolve {

namespace {

Report start_of(const Choice& choice) {
  Report report;
  report.device = choice.device();
  report.notes = choice.notes;
  return report;
}

template <class T>
std::unique_ptr<Engine<T>> with_order(std::unique_ptr<Engine<T>> engine) {
  engine->order = engine->report().n;
  return engine;
}

/// The device is that of the context, if there is one.
void go_to(const SharedContext& context, Options& options) {
  if (!context) return;
  const int its = context->q->device();
  const Device& named = options.device;
  require(named.kind == Device::automatic || (named.kind == Device::cuda && named.index == its),
          ("the context is on cuda:" + std::to_string(its) + ", but another device is asked for").c_str());
  options.device = {Device::cuda, its};
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cpu> A, Options options, const SharedContext& context = {}) {
  require_on_host("A", Ends(A.A));
  go_to(context, options);
  const Choice choice = choose(options);
  options.device.index = choice.cuda_device;
  if (const auto* on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend)) {
    require(!context, "a backend of the CPU, but a context is on CUDA");
    return with_order(make_engine<T>(std::move(A), **on_cpu, options, start_of(choice)));
  }
  return with_order(make_engine<T>(std::move(A), *std::get<1>(choice.backend), options, start_of(choice), context));
}

/// The device of the memory; where it has none, the first that can be used.
template <class T>
Device device_of(MatrixView<const T, Cuda> A) {
  const int its = whereabouts(Ends(A).first).cuda_device;
  return {Device::cuda, its >= 0 ? its : automatic_device().index};
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cuda> A, Options options, CUstream_st* after,
                                      const SharedContext& context = {}) {
  go_to(context, options);
  if (options.device.kind == Device::automatic) options.device = device_of<T>(A.A);
  const Choice choice = choose(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  return with_order(
      make_engine<T>(std::move(A), *std::get<1>(choice.backend), options, start_of(choice), after, context));
}

/// Where X is B itself: X is then solved for in place.
template <class T, class Place>
bool same(MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  return B.data() == X.data() && (B.ld() == X.ld() || B.cols() <= 1);
}

/// Whether two matrices of one size have an element in common. Where the strides differ, it is enough that the memory from
/// the first to the last element of both has: the answer is then yes also for some that are interleaved.
template <class T, class Place>
bool overlap(MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  if (B.empty()) return false;
  const auto first = [](auto M) { return reinterpret_cast<std::uintptr_t>(M.data()); };
  const auto end = [&](auto M) { return first(M) + std::uintptr_t((M.cols() - 1) * M.ld() + M.rows()) * sizeof(T); };
  if (end(B) <= first(X) || end(X) <= first(B)) return false;
  if (B.ld() != X.ld()) return true;
  // Rows of X, counted from those of B around a column of ld elements, are all behind those of B.
  const std::uintptr_t column = std::uintptr_t(B.ld()) * sizeof(T), rows = std::uintptr_t(B.rows()) * sizeof(T);
  const std::uintptr_t before = first(B) < first(X) ? first(X) - first(B) : first(B) - first(X);
  const std::uintptr_t shift = before % column;
  return shift < rows || column - shift < rows;
}

template <class T, class Place>
void require_sides(std::int64_t n, MatrixView<const T, Place> B, MatrixView<T, Place> X) {
  require(B.rows() == n && X.rows() == n && B.cols() == X.cols(),
          "the right-hand sides or the solutions have the wrong size");
  require(
      same(B, X) || !overlap(B, X),
      "the right-hand sides and the solutions overlap, but are not the same memory with the same leading dimension");
}

template <class T>
Engine<T>& not_moved(const std::unique_ptr<Engine<T>>& engine) {
  require(engine != nullptr, "this factorization has been moved from");
  return *engine;
}

template <class T>
Report solve_once(MatrixView<const T> A, MatrixView<const T> B, MatrixView<T> X, const Options& options, Op op) {
  require(A.rows() == A.cols(), "the matrix is not square");
  require_sides(A.rows(), B, X);
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
Factorization<T>::Factorization(MatrixView<const T, Cuda> A, const Options& options, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(A), options, after)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(std::move(A)), options, after)) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cpu> A, const Options& options, const Context& context)
    : engine_(engine_for(Given<T, Cpu>(A), options, context.state())) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cpu>&& A, const Options& options, const Context& context)
    : engine_(engine_for(Given<T, Cpu>(std::move(A)), options, context.state())) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cuda> A, const Options& options, const Context& context,
                                CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(A), options, after, context.state())) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(std::move(A)), options, after, context.state())) {}
template <class T>
Factorization<T>::Factorization(Factorization&&) noexcept = default;
template <class T>
Factorization<T>& Factorization<T>::operator=(Factorization&&) noexcept = default;
template <class T>
Factorization<T>::~Factorization() = default;

template <class T>
const Report& Factorization<T>::report() const {
  return not_moved(engine_).report();
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cpu> B, MatrixView<T, Cpu> X, Op op) {
  Engine<T>& engine = not_moved(engine_);
  require_sides(engine.order, B, X);
  require_on_host("B", Ends(B));
  require_on_host("X", Ends(X));
  return engine.solve(B, X, op);
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) {
  Engine<T>& engine = not_moved(engine_);
  require_sides(engine.order, B, X);
  return engine.solve(B, X, op, after);
}

template <class T>
double Factorization<T>::rcond() {
  return not_moved(engine_).rcond();
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
