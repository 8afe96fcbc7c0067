// The public entry points: choose a backend, make the engine at its place.
#include <fmt/format.h>

#include "core/choose.hpp"
#include "core/whereabouts.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/arguments.hpp"
#include "solvers/driver/engine.hpp"

namespace lasolve {

namespace {

/// `stored`: transposed, where columns of what is factored are rows of what was given.
Report start_of(const Choice& choice, Op stored = Op::none) {
  Report report;
  report.outcome.of_rows = stored == Op::transpose;
  if (choice.backend.index() == 0)
    report.device = name_of(Device::cpu);
  else
    report.device = choice.device();
  report.notes = choice.notes;
  return report;
}

template <class T>
std::unique_ptr<Engine<T>> with_order(std::unique_ptr<Engine<T>> engine) {
  engine->order = engine->report().n;
  return engine;
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cpu> A, const Options& options, const SharedContext& context = {},
                                      Op stored = Op::none) {
  require_square(A.A.rows(), A.A.cols());
  require_on_host("A", Ends(A.A));
  const Choice choice = context ? choose(on_its_device(*context, options)) : choose(options);
  if (const auto* on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend)) {
    require(!context, "a backend of the CPU, but a context is on CUDA");
    return with_order(make_engine<T>(std::move(A), **on_cpu, options, start_of(choice, stored)));
  }
  Options there = options;
  there.device = choice.place();
  return with_order(
      make_engine<T>(std::move(A), *std::get<1>(choice.backend), there, start_of(choice, stored), context));
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
  require_square(A.A.rows(), A.A.cols());
  if (context) options = on_its_device(*context, std::move(options));
  if (options.device.kind == Device::automatic) options.device = device_of<T>(A.A);
  const Choice choice = choose(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  return with_order(
      make_engine<T>(std::move(A), *std::get<1>(choice.backend), options, start_of(choice), after, context));
}

/// For a matrix whose transpose is factored.
Options mirrored(Options options) {
  if (options.triangle == Uplo::lower)
    options.triangle = Uplo::upper;
  else if (options.triangle == Uplo::upper)
    options.triangle = Uplo::lower;
  return options;
}

template <class From, class T>
void copy_elements(const From& from, const T& to) {
  for (std::int64_t i = 0; i < from.rows(); ++i)
    for (std::int64_t j = 0; j < from.cols(); ++j) to(i, j) = from(i, j);
}

/// solve(B, X) with columns of row-major B and X: of one that lies in one piece, or of copies.
template <class T, class Solve>
Report solve_by_columns(RowMajorView<const T> B, RowMajorView<T> X, Solve solve) {
  const auto is_column = [](auto M) { return M.cols() == 1 && M.ld() == 1; };
  if (is_column(B) && is_column(X))
    return solve(column_major(B.data(), B.rows(), 1), column_major(X.data(), X.rows(), 1));
  require_on_host("B", Ends(B.transposed()));
  require_on_host("X", Ends(X.transposed()));
  Matrix<T> b(B.rows(), B.cols()), x(X.rows(), X.cols());
  copy_elements(B, b.view());
  Report report = solve(std::as_const(b).view(), x.view());
  if (report.outcome.has_solution()) copy_elements(x.view(), X);
  return report;
}

/// A by columns or by rows.
template <class T, class AnyView>
Report solve_once(AnyView A, MatrixView<const T> B, MatrixView<T> X, const Options& options, Op op) {
  require_square(A.rows(), A.cols());
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
Factorization<T>::Factorization(RowMajorView<const T> A, const Options& options)
    : engine_(engine_for(Given<T, Cpu>(A.transposed()), mirrored(options), {}, Op::transpose)),
      stored_(Op::transpose) {}
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
Factorization<T>::Factorization(RowMajorView<const T> A, const Options& options, const Context& context)
    : engine_(engine_for(Given<T, Cpu>(A.transposed()), mirrored(options), context.state(), Op::transpose)),
      stored_(Op::transpose) {}
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
  return engine.solve(B, X, stored_ == Op::none ? op : flipped(op));
}
template <class T>
Report Factorization<T>::solve(RowMajorView<const T> B, RowMajorView<T> X, Op op) {
  return solve_by_columns(B, X, [&](MatrixView<const T> b, MatrixView<T> x) { return solve(b, x, op); });
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) {
  Engine<T>& engine = not_moved(engine_);
  require_sides(engine.order, B, X);
  return engine.solve(B, X, stored_ == Op::none ? op : flipped(op), after);
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
Report solve(RowMajorView<const double> A, MatrixView<const double> B, MatrixView<double> X, const Options& options,
             Op op) {
  return solve_once(A, B, X, options, op);
}
Report solve(RowMajorView<const double> A, RowMajorView<const double> B, RowMajorView<double> X, const Options& options,
             Op op) {
  return solve_by_columns(B, X, [&](auto b, auto x) { return solve_once<double>(A, b, x, options, op); });
}
Report solve(MatrixView<const double> A, RowMajorView<const double> B, RowMajorView<double> X, const Options& options,
             Op op) {
  return solve_by_columns(B, X, [&](auto b, auto x) { return solve_once<double>(A, b, x, options, op); });
}
Report solve(MatrixView<const float> A, MatrixView<const float> B, MatrixView<float> X, const Options& options, Op op) {
  return solve_once(A, B, X, options, op);
}
Report solve(RowMajorView<const float> A, MatrixView<const float> B, MatrixView<float> X, const Options& options,
             Op op) {
  return solve_once(A, B, X, options, op);
}
Report solve(RowMajorView<const float> A, RowMajorView<const float> B, RowMajorView<float> X, const Options& options,
             Op op) {
  return solve_by_columns(B, X, [&](auto b, auto x) { return solve_once<float>(A, b, x, options, op); });
}
Report solve(MatrixView<const float> A, RowMajorView<const float> B, RowMajorView<float> X, const Options& options,
             Op op) {
  return solve_by_columns(B, X, [&](auto b, auto x) { return solve_once<float>(A, b, x, options, op); });
}

}  // namespace lasolve
