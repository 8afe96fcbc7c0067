// The public entry points: choose a backend, make the engine on its device.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/choose.hpp"
#include "core/cpu/copy_on_host.hpp"
#include "core/current_device.hpp"
#include "core/memory_kind.hpp"
#include "core/sizes.hpp"
#include "core/transfer.hpp"
#include "lasolve/context.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/arguments.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/not_finite.hpp"

namespace lasolve {

namespace {

/// `op`: how A is related to what is factored.
Facts start_of(const Choice& choice, const Options& options, Op op = Op::none) {
  return {.outcome = {.of_rows = op == Op::transpose},
          .device = name_of(choice.device(), options.cards),
          .notes = choice.notes};
}

/// The engine of a matrix of order n with what it is asked about it. `borrowed`: where that is the caller's.
template <class T>
std::unique_ptr<Engine<T>> of_matrix(std::int64_t n, std::unique_ptr<Engine<T>> engine, const Extent& borrowed = {}) {
  engine->order = n;
  if (engine->recipe().reads_A_again()) engine->borrowed = borrowed;
  return engine;
}

void require_enumerator(Factor which) {
  require(which == Factor::L || which == Factor::U, "a factor is neither L nor U");
}

/// Over the cards that the options name. Without any, out of core on that of the choice, which is said.
template <class T>
std::unique_ptr<Engine<T>> make_engine_on_cards(Columnwise<T>&& A, Options options, const Choice& choice, Op op) {
  Facts start = start_of(choice, options, op);
  if (options.cards.size() < 2) {
    const Problem problem{.n = A.n, .element = precision_of<T>};
    if (A.device_bytes == 0) A.device_bytes = bytes_of_device(options, choice, problem);
    if (goes_out_of_core(options, problem, A.device_bytes))
      start.notes.push_back("out of core: A and its factors take " + in_bytes(bytes_in_core(options, problem)) +
                            ", and " + in_bytes(A.device_bytes) + " of the device's memory may be taken");
    options.device = choice.device();
    options.cards = {options.device.index};
  }
  return std::visit(
      [&](const auto* backend) { return make_engine_on_cards<T>(std::move(A), *backend, options, std::move(start)); },
      choice.backend);
}

/// For the columns of op(A).
template <class T>
std::unique_ptr<Engine<T>> make_engine_for(Given<T, Cpu> A, const Options& options, const Choice& choice,
                                           const SharedContext& context, Op op) {
  if (options.cards.size() > 1) {
    require(!context, "a context is on one device, but several cards are asked for");
    require(!A.memory, "over several cards factors do not overwrite A: give it as a view");
    return make_engine_on_cards<T>(columnwise(A.A), options, choice, op);
  }
  const double device_bytes = bytes_of_device(options, choice, problem_of(A));
  if (goes_out_of_core(options, problem_of(A), device_bytes) &&
      (options.device_memory > 0 || (!context && !A.memory))) {
    require(!context, "out of core a context has no part: let the system have more of the device's memory");
    require(!A.memory, "out of core factors do not overwrite A: give it as a view");
    Columnwise<T> columns = columnwise(A.A);
    columns.device_bytes = device_bytes;
    return make_engine_on_cards<T>(std::move(columns), options, choice, op);
  }
  if (const auto* on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend)) {
    require(!context, "a backend of the CPU, but a context is on CUDA");
    return make_engine<T>(std::move(A), **on_cpu, options, start_of(choice, options, op));
  }
  Options there = options;
  there.device = choice.device();
  return make_engine<T>(std::move(A), *std::get<1>(choice.backend), there, start_of(choice, options, op), context);
}

/// Of columns on the host, op(A).
template <class T>
std::unique_ptr<Engine<T>> engine_by(const Choice& choice, const Columns<const T, Cpu>& columns, const Options& options,
                                     const SharedContext& context) {
  const MatrixView<const T, Cpu>& view = columns.view;
  const Op op = columns.op;
  const auto made_with = [&](const Options& its) {
    try {
      auto engine =
          of_matrix(view.rows(), make_engine_for(Given<T, Cpu>(view), its, choice, context, op), Extent(view));
      engine->stored = op;
      return engine;
    } catch (const NotFinite& e) {
      throw_naming_first(e, view, op, its.triangle);
    }
  };
  return op == Op::none ? made_with(options) : made_with(mirrored(options));  // options are dear to copy
}

/// The device of the memory; where it has none, the first that can be used.
template <class T>
Device device_of(MatrixView<const T, Cuda> A) {
  const int its = memory_kind(Ends(A).first).cuda_device;
  return {Device::cuda, its >= 0 ? its : automatic_device().index};
}

/// Of columns on a device, op(A).
template <class T>
std::unique_ptr<Engine<T>> engine_on_device(Given<T, Cuda> A, Options options, CUstream_st* after,
                                            const SharedContext& context, Op op = Op::none) {
  require_square(A.A.rows(), A.A.cols());
  require_enumerators(options);
  require_device(options.device);
  if (op != Op::none) options = mirrored(std::move(options));
  if (context) options = on_its_device(*context, std::move(options));
  if (options.device.kind == Device::automatic) options.device = device_of<T>(A.A);
  const Choice choice = choose_for(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  const Extent borrowed = A.memory || A.may_end ? Extent() : Extent(A.A);
  const std::int64_t n = A.A.rows();
  if (options.cards.size() > 1) {
    require(!context, "a context is on one device, but several cards are asked for");
    require(!A.memory && !A.may_end, "over several cards A is borrowed: give a view of it that has a name");
    require_on_some_device("A", Ends(A.A));
    auto several = of_matrix(n, make_engine_on_cards<T>(columnwise(A.A, after), options, choice, op), borrowed);
    several->stored = op;
    return several;
  }
  auto engine = of_matrix(n,
                          make_engine<T>(std::move(A), *std::get<1>(choice.backend), options,
                                         start_of(choice, options, op), after, context),
                          borrowed);
  engine->stored = op;
  return engine;
}

SharedContext context_of(const After& after) { return after.context ? after.context->state() : SharedContext(); }

template <class T>
void require_matrix(const Borrowed<const T>& A, const Options& options) {
  require_square(A.rows(), A.cols());
  require_enumerators(options);
  if (!A.on_cuda()) require_on_host("A", Ends(A));
}

/// Of a matrix that is given for longer than the call, or of a copy of it.
template <class T>
std::unique_ptr<Engine<T>> engine_for(const Borrowed<const T>& A, const Options& options, const After& after) {
  const SharedContext context = context_of(after);
  require_matrix(A, options);
  if (A.on_cuda()) {
    const auto [view, op] = columns_on_device("A", A);
    Given<T, Cuda> given(view);
    given.may_end = A.may_end();
    return engine_on_device(std::move(given), options, after.stream, context, op);
  }
  const auto columns = columns_of<Cpu>(A);
  const Choice choice = choose_for(options, context);
  if (columns && !A.may_end()) return engine_by(choice, *columns, options, context);
  const Op op = columns ? columns->op : Op::none;
  Matrix<T> copy(A.rows(), A.cols());
  columns ? copy_elements(columns->view, copy.view()) : copy_elements(A, copy.view());
  auto engine = engine_by(choice, Columns<const T, Cpu>{std::as_const(copy).view(), op}, options, context);
  engine->borrowed = {};
  engine->kept = std::move(copy);
  return engine;
}

/// Of memory that is handed over.
template <class T>
std::unique_ptr<Engine<T>> engine_in(Matrix<T, Cpu>&& A, const Options& options, const After& after) {
  require_matrix<T>(A.view(), options);
  const std::int64_t n = A.rows();
  const SharedContext context = context_of(after);
  const Choice choice = choose_for(options, context);
  return of_matrix(n, make_engine_for(Given<T, Cpu>(std::move(A)), options, choice, context, Op::none));
}
template <class T>
std::unique_ptr<Engine<T>> engine_in(Matrix<T, Cuda>&& A, const Options& options, const After& after) {
  return engine_on_device(Given<T, Cuda>(std::move(A)), options, after.stream, context_of(after));
}

/// Sizes and places of what an engine, or a call of solve(), is given.
template <class T>
ColumnsOfSystem<T> require_rhs(std::int64_t n, const Extent& A, const Borrowed<const T>& B, const Borrowed<T>& X,
                               Op op) {
  ColumnsOfSystem<T> columns = require_rhs(n, B, X);
  require_disjoint(A, extent_of(X, columns.x));
  require_enumerator(op, "op");
  if (B.on_cuda()) return columns;
  require_on_host("B", Ends(B));
  require_on_host("X", Ends(X));
  return columns;
}

template <class T>
Report solve_by(Engine<T>& engine, MatrixView<const T> B, MatrixView<T> X, Op op) {
  try {
    return engine.solve(B, X, op_of_stored(engine.stored, op));
  } catch (const NotFinite& e) {
    if (same(B, X)) throw;
    throw_naming_first(e, B, Op::none, Uplo::both);
  }
}
template <class T>
Report solve_by(Engine<T>& engine, const Borrowed<const T>& B, const Borrowed<T>& X, const ColumnsOfSystem<T>& columns,
                Op op, CUstream_st* after) {
  if (B.on_cuda())
    return engine.solve(columns_on_device("B", B), columns_on_device("X", X), op_of_stored(engine.stored, op), after);
  return on_columns(B, X, columns, [&](MatrixView<const T> b, MatrixView<T> x) { return solve_by(engine, b, x, op); });
}

template <class T>
Report solve_once(const Borrowed<const T>& A, const Borrowed<const T>& B, const Borrowed<T>& X, const Options& options,
                  Op op, const After& after) {
  require_square(A.rows(), A.cols());
  const auto columns = columns_of<Cpu>(A);
  const auto rhs = require_rhs(A.rows(), extent_of(A, columns), B, X, op);
  if (A.on_cuda() || B.on_cuda() || after.context || !columns || options.device_memory > 0) {
    const auto engine = engine_for(A, options, after);
    Report report = solve_by(*engine, B, X, rhs, op, after.stream);
    return combined(engine->report(), std::move(report));
  }
  require_matrix(A, options);
  const Choice choice = choose_for(options);
  return on_columns(B, X, rhs, [&](MatrixView<const T> b, MatrixView<T> x) {
    Report report;
    if (const auto* const on_cpu = std::get_if<const GemmBackend<Cpu>*>(&choice.backend))
      if (solve_small(columns->view, **on_cpu, options, start_of(choice, options, columns->op), b, x,
                      op_of_stored(columns->op, op), report))
        return report;
    const auto engine = engine_by(choice, *columns, options, SharedContext());
    report = solve_by(*engine, b, x, op);
    report = combined(engine->report(), std::move(report));
    return report;  // the one that all return, which is not moved
  });
}

}  // namespace

Choice choose_for(const Options& options, const SharedContext& context) {
  return context ? choose(on_its_device(*context, options)) : choose(options);
}

double bytes_of_device(const Options& options, const Choice& choice, const Problem& problem) {
  constexpr double not_asked_for = 1 << 30, workspace = 1 << 30;
  if (options.device_memory > 0) return double(options.device_memory);
  if (choice.device().kind != Device::cuda || bytes_in_core(options, problem) < not_asked_for) return 0;
  const CurrentDevice current(choice.cuda_device);
  double free = double(Memory<Cuda>::available()) - workspace;
  if (free < bytes_in_core(options, problem)) {  // idle queues have some
    release_unused_memory(choice.cuda_device);
    free = double(Memory<Cuda>::available()) - workspace;
  }
  return std::max(1.0, free);
}

bool goes_out_of_core(const Options& options, const Choice& choice, const Problem& problem) {
  return options.cards.size() < 2 && goes_out_of_core(options, problem, bytes_of_device(options, choice, problem));
}

template <class T>
Columnwise<T> columnwise(MatrixView<const T, Cpu> A) {
  return {.n = A.rows(),
          .on_cpu = [A](Queue<Cpu>&, std::int64_t first,
                        MatrixView<T> to) { copy_on_host<T>(A.columns(first, to.cols()), to); },
          .on_cuda = [A](Queue<Cuda>& q, std::int64_t first,
                         MatrixView<T, Cuda> to) { copy<T>(q, A.columns(first, to.cols()), to); }};
}

template <class T>
Factorization<T> FactorizationOf<T>::columns(Columnwise<T> A, const Options& options) {
  require_enumerators(options);
  const std::int64_t n = A.n;
  std::vector<Extent> pieces = std::move(A.borrowed);
  auto engine = of_matrix(n, make_engine_on_cards<T>(std::move(A), options, choose_for(options), Op::none));
  if (engine->recipe().reads_A_again()) engine->pieces = std::move(pieces);
  return Factorization<T>(std::move(engine));
}
template struct FactorizationOf<double>;
template struct FactorizationOf<float>;

template <class T>
Factorization<T>::Factorization(std::unique_ptr<Engine<T>> engine) : engine_(std::move(engine)) {}
template <class T>
Factorization<T>::Factorization(Borrowed<const T> A, const Options& options, After after)
    : engine_(engine_for(A, options, after)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cpu>&& A, const Options& options, After after)
    : engine_(engine_in(std::move(A), options, after)) {}
template <class T>
Factorization<T>::Factorization(Matrix<T, Cuda>&& A, const Options& options, After after)
    : engine_(engine_in(std::move(A), options, after)) {}
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
Report Factorization<T>::solve(Borrowed<const T> B, Borrowed<T> X, Op op, CUstream_st* after) {
  Engine<T>& engine = not_moved(engine_);
  const ColumnsOfSystem<T> columns = require_rhs(engine.order, engine.borrowed, B, X, op);
  for (const Extent& piece : engine.pieces) require_disjoint(piece, extent_of(X, columns.x));
  return solve_by(engine, B, X, columns, op, after);
}
template <class T>
double Factorization<T>::rcond() {
  return not_moved(engine_).rcond();
}

template <class T>
LogDeterminant Factorization<T>::log_abs_det() {
  LogDeterminant its;
  not_moved(engine_).with_triangles([&](Triangles<T>& factors) { its = factors.log_abs_det(); }, {});
  return its;
}
template <class T>
Matrix<T> Factorization<T>::triangle(Factor which) {
  require_enumerator(which);
  Matrix<T> its;
  not_moved(engine_).with_triangles([&](Triangles<T>& factors) { its = factors.triangle(which); }, {});
  return its;
}
template <class T>
std::vector<std::int64_t> Factorization<T>::pivots() {
  std::vector<std::int64_t> its;
  not_moved(engine_).with_triangles([&](Triangles<T>& factors) { its = factors.pivots(); }, {});
  return its;
}
template <class T>
std::vector<std::int64_t> Factorization<T>::permutation() {
  const std::vector<std::int64_t> exchanged = pivots();
  std::vector<std::int64_t> rows(exchanged.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) std::swap(rows[k], rows[std::size_t(exchanged[k])]);
  return rows;
}
template <class T>
void Factorization<T>::apply(Factor which, bool inverse, Borrowed<const T> B, Borrowed<T> X, Op op,
                             CUstream_st* after) {
  Engine<T>& engine = not_moved(engine_);
  require_enumerator(which);
  const auto columns = require_rhs(engine.order, Extent(), B, X, op);
  require(inverse || !overlap(extent_of(B), extent_of(X)),
          "a product is written to X while B is read: give X memory of its own");
  const FactorCall call{which, op, inverse};
  if (B.on_cuda())
    return engine.with_triangles(
        [&](Triangles<T>& factors) { factors.apply(call, columns_on_device("B", B), columns_on_device("X", X)); },
        after);
  on_columns(B, X, columns, [&](MatrixView<const T> b, MatrixView<T> x) {
    engine.with_triangles([&](Triangles<T>& factors) { factors.apply(call, b, x); }, {});
    return true;
  });
}

#define LASOLVE_INSTANTIATE(T) template class Factorization<T>;
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

inline namespace LASOLVE_ABI {

#define LASOLVE_DEFINE(T)                                                                                             \
  Report solve(Borrowed<const T> A, Borrowed<const T> B, Borrowed<T> X, const Options& options, Op op, After after) { \
    return solve_once(A, B, X, options, op, after);                                                                   \
  }
LASOLVE_ELEMENTS(LASOLVE_DEFINE)
#undef LASOLVE_DEFINE

}  // namespace LASOLVE_ABI

}  // namespace lasolve
