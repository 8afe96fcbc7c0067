// The public entry points: choose a backend, make the engine on its device.
#include <algorithm>

#include "core/choose.hpp"
#include "core/memory_kind.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/arguments.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/not_finite.hpp"

namespace lasolve {

namespace {

/// `op`: how A is related to what is factored.
Facts start_of(const Choice& choice, Op op = Op::none) {
  return {.outcome = {.of_rows = op == Op::transpose},
          .device = choice.backend.index() == 0 ? "cpu" : choice.device_name(),
          .notes = choice.notes};
}

/// For a matrix whose transpose is factored.
Options mirrored(Options options) {
  if (options.triangle == Uplo::lower)
    options.triangle = Uplo::upper;
  else if (options.triangle == Uplo::upper)
    options.triangle = Uplo::lower;
  return options;
}

/// The engine of a matrix of order n with what it is asked about it. `borrowed`: where that is the caller's.
template <class T>
std::unique_ptr<Engine<T>> of_matrix(std::int64_t n, std::unique_ptr<Engine<T>> engine, const Options& options,
                                     const Extent& borrowed) {
  engine->order = n;
  if (options.check || engine->report().refine != Refine::none) engine->borrowed = borrowed;
  return engine;
}

Choice choose_for(const Options& options, const SharedContext& context) {
  return context ? choose(on_its_device(*context, options)) : choose(options);
}

/// For the columns of op(A).
template <class T>
std::unique_ptr<Engine<T>> make_engine_for(Given<T, Cpu> A, const Options& options, const Choice& choice,
                                           const SharedContext& context, Op op) {
  if (const auto* on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend)) {
    require(!context, "a backend of the CPU, but a context is on CUDA");
    return make_engine<T>(std::move(A), **on_cpu, options, start_of(choice, op));
  }
  Options there = options;
  there.device = choice.device();
  return make_engine<T>(std::move(A), *std::get<1>(choice.backend), there, start_of(choice, op), context);
}

template <class T>
void require_matrix(MatrixView<const T> columns, const Options& options, Op op = Op::none) {
  op == Op::none ? require_square(columns.rows(), columns.cols()) : require_square(columns.cols(), columns.rows());
  require_enumerators(options);
  require_on_host("A", Ends(columns));
}

/// Of columns that the caller has.
template <class T>
std::unique_ptr<Engine<T>> engine_by(const Choice& choice, MatrixView<const T> columns, const Options& options,
                                     const SharedContext& context, Op op) {
  try {
    return of_matrix(columns.rows(), make_engine_for(Given<T, Cpu>(columns), options, choice, context, op), options,
                     Extent(columns));
  } catch (const NotFinite& e) {
    throw_naming_first(e, columns, op, options.triangle);
  }
}
template <class T>
std::unique_ptr<Engine<T>> engine_for(MatrixView<const T> columns, const Options& options,
                                      const SharedContext& context = {}, Op op = Op::none) {
  require_matrix(columns, options, op);
  return engine_by(choose_for(options, context), columns, options, context, op);
}
template <class T>
std::unique_ptr<Engine<T>> engine_for(RowMajorView<const T> A, const Options& options,
                                      const SharedContext& context = {}) {
  return engine_for(A.transposed(), mirrored(options), context, Op::transpose);
}

/// Of a copy.
template <class T>
std::unique_ptr<Engine<T>> engine_with_copy(MatrixView<const T> columns, Op op, const Options& options,
                                            const SharedContext& context) {
  require_matrix(columns, options, op);
  Matrix<T> copy(columns.rows(), columns.cols());
  for (std::int64_t j = 0; j < columns.cols(); ++j) std::copy_n(&columns(0, j), columns.rows(), &copy(0, j));
  auto engine = engine_for(std::as_const(copy).view(), op == Op::none ? options : mirrored(options), context, op);
  engine->borrowed = {};
  engine->kept = std::move(copy);
  return engine;
}

/// Of memory that is handed over.
template <class T>
std::unique_ptr<Engine<T>> engine_in(Matrix<T>&& A, const Options& options, const SharedContext& context = {}) {
  require_matrix<T>(A, options);
  const std::int64_t n = A.rows();
  const Choice choice = choose_for(options, context);
  return of_matrix(n, make_engine_for(Given<T, Cpu>(std::move(A)), options, choice, context, Op::none), options, {});
}

/// The device of the memory; where it has none, the first that can be used.
template <class T>
Device device_of(MatrixView<const T, Cuda> A) {
  const int its = memory_kind(Ends(A).first).cuda_device;
  return {Device::cuda, its >= 0 ? its : automatic_device().index};
}

template <class T>
std::unique_ptr<Engine<T>> engine_for(Given<T, Cuda> A, Options options, CUstream_st* after,
                                      const SharedContext& context = {}) {
  require_square(A.A.rows(), A.A.cols());
  require_enumerators(options);
  require_device(options.device);
  if (context) options = on_its_device(*context, std::move(options));
  if (options.device.kind == Device::automatic) options.device = device_of<T>(A.A);
  const Choice choice = choose(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  const Extent borrowed = A.memory ? Extent() : Extent(A.A);
  const std::int64_t n = A.A.rows();
  return of_matrix(
      n, make_engine<T>(std::move(A), *std::get<1>(choice.backend), options, start_of(choice), after, context), options,
      borrowed);
}

template <class T>
Extent extent_of(MatrixView<T> M) {
  return Extent(M);
}
template <class T>
Extent extent_of(RowMajorView<T> M) {
  return Extent(M.transposed());
}

template <class T>
void require_sides_on_host(MatrixView<const T> B, MatrixView<T> X, Op op) {
  require_enumerator(op, "op");
  require_on_host("B", Ends(B));
  require_on_host("X", Ends(X));
}

template <class T>
Report solve_with(Engine<T>& engine, MatrixView<const T> B, MatrixView<T> X, Op op) {
  try {
    return engine.solve(B, X, op);
  } catch (const NotFinite& e) {
    if (same(B, X)) throw;
    throw_naming_first(e, B, Op::none, Uplo::both);
  }
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
  copy_elements(x.view(), X);
  return report;
}

/// The matrix by columns or by rows.
template <class T, class M>
Report solve_once(const M& A, MatrixView<const T> B, MatrixView<T> X, const Options& options, Op op) {
  require_square(A.rows(), A.cols());
  require_sides(A.rows(), B, X);
  require_apart(extent_of(A), Extent(X));
  const MatrixView<const T> columns = columns_of<T>(A);
  constexpr Op stored = op_of_columns<M, T>;
  require_matrix(columns, options);
  require_sides_on_host(B, X, op);
  const Choice choice = choose(options);
  const Op op_of_stored = stored == Op::none ? op : flipped(op);
  Report report;
  if (const auto* const on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend))
    if (solve_small(columns, **on_cpu, options, start_of(choice, stored), B, X, op_of_stored, report)) return report;
  const auto engine =
      engine_by(choice, columns, stored == Op::none ? options : mirrored(options), SharedContext(), stored);
  report = solve_with(*engine, B, X, op_of_stored);
  report = together(engine->report(), std::move(report));
  return report;
}
/// The same of row-major B and X.
template <class T, class M>
Report solve_once(const M& A, RowMajorView<const T> B, RowMajorView<T> X, const Options& options, Op op) {
  require_apart(extent_of(A), extent_of(X));
  return solve_by_columns(B, X,
                          [&](MatrixView<const T> b, MatrixView<T> x) { return solve_once(A, b, x, options, op); });
}

}  // namespace

template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cpu> A, const Options& options) : engine_(engine_for(A, options)) {}
template <class T>
Factorization<T>::Factorization(RowMajorView<const T> A, const Options& options)
    : engine_(engine_for(A, options)), stored_(Op::transpose) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cpu>&& A, const Options& options)
    : engine_(engine_in(std::move(A), options)) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cuda> A, const Options& options, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(A), options, after)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(std::move(A)), options, after)) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cpu> A, const Options& options, const Context& context)
    : engine_(engine_for(A, options, context.state())) {}
template <class T>
Factorization<T>::Factorization(RowMajorView<const T> A, const Options& options, const Context& context)
    : engine_(engine_for(A, options, context.state())), stored_(Op::transpose) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cpu>&& A, const Options& options, const Context& context)
    : engine_(engine_in(std::move(A), options, context.state())) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cuda> A, const Options& options, const Context& context,
                                CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(A), options, after, context.state())) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context, CUstream_st* after)
    : engine_(engine_for(Given<T, Cuda>(std::move(A)), options, after, context.state())) {}
template <class T>
Factorization<T>::Factorization(MatrixView<const T, Cpu> columns, Op op, const Options& options, const Context* context)
    : engine_(engine_with_copy(columns, op, options, context ? context->state() : SharedContext())), stored_(op) {}
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
  require_apart(engine.borrowed, Extent(X));
  require_sides_on_host(B, X, op);
  return solve_with(engine, B, X, stored_ == Op::none ? op : flipped(op));
}
template <class T>
Report Factorization<T>::solve(RowMajorView<const T> B, RowMajorView<T> X, Op op) {
  require_apart(not_moved(engine_).borrowed, extent_of(X));
  return solve_by_columns(B, X, [&](MatrixView<const T> b, MatrixView<T> x) { return solve(b, x, op); });
}
template <class T>
Report Factorization<T>::solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, CUstream_st* after) {
  Engine<T>& engine = not_moved(engine_);
  require_enumerator(op, "op");
  require_sides(engine.order, B, X);
  require_apart(engine.borrowed, Extent(X));
  return engine.solve(B, X, stored_ == Op::none ? op : flipped(op), after);
}

template <class T>
double Factorization<T>::rcond() {
  return not_moved(engine_).rcond();
}

template class Factorization<double>;
template class Factorization<float>;

inline namespace LASOLVE_ABI {

#define LASOLVE_SOLVE(T, OfA, OfX)                                                        \
  Report solve(OfA<const T> A, OfX<const T> B, OfX<T> X, const Options& options, Op op) { \
    return solve_once(A, B, X, options, op);                                              \
  }
LASOLVE_SOLVE(double, MatrixView, MatrixView)
LASOLVE_SOLVE(double, MatrixView, RowMajorView)
LASOLVE_SOLVE(double, RowMajorView, MatrixView)
LASOLVE_SOLVE(double, RowMajorView, RowMajorView)
LASOLVE_SOLVE(float, MatrixView, MatrixView)
LASOLVE_SOLVE(float, MatrixView, RowMajorView)
LASOLVE_SOLVE(float, RowMajorView, MatrixView)
LASOLVE_SOLVE(float, RowMajorView, RowMajorView)

}  // namespace LASOLVE_ABI

}  // namespace lasolve
