#include "lasolve/async.hpp"

#include "core/choose.hpp"
#include "solvers/driver/arguments.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"

namespace lasolve {

namespace {

/// Throws std::invalid_argument where the host would have to wait for facts of A, or of a solution.
void require_decided(const Options& options) {
  require(options.factorization != Method::automatic,
          "a factorization that nobody waits for cannot look at A: the options have to name the method");
  require(options.cards.size() < 2, "a factorization that nobody waits for is on one device");
  require(!options.check,
          "a factorization that nobody waits for cannot check solutions: the options have to leave out the check");
  require(options.condition != Condition::on,
          "a factorization that nobody waits for cannot estimate the condition of A: the options must not ask for it");
  require(
      options.accuracy == 0 && !options.bounds,
      "a factorization that nobody waits for cannot tell how accurate solutions are: the options ask for an accuracy, "
      "or for bounds");
  require(options.residual == Residual::working && options.equilibrate != Wanted::on,
          "a factorization that nobody waits for is neither refined nor scaled: the options ask for residuals in twice "
          "the precision, or for equilibration");
  require(
      !options.progress,
      "a factorization that nobody waits for tells nothing of its progress: the options must have no function for it");
}

template <class T>
std::unique_ptr<AsyncEngine<T>> engine_for(Given<T, Cuda> A, const Options& wanted, const Context& context,
                                           Op stored = Op::none) {
  require_square(A.A.rows(), A.A.cols());
  require_enumerators(wanted);
  require(context.stream() != nullptr,
          "a factorization that nobody waits for works in the order of a stream, and the context has none");
  Options options = on_its_device(*context.state(), wanted);
  if (stored != Op::none) options = mirrored(std::move(options));
  require_decided(options);
  const Choice choice = choose_for(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  const std::int64_t order = A.A.rows();
  auto engine = make_async_engine<T>(std::move(A), *std::get<1>(choice.backend), options, context.state());
  engine->order = order, engine->stored = stored;
  return engine;
}

}  // namespace

template <class T>
AsyncFactorization<T>::AsyncFactorization(Borrowed<const T> A, const Options& options, const Context& context) {
  require_square(A.rows(), A.cols());
  const auto [view, op] = columns_on_device("A", A);
  engine_ = engine_for<T>(Given<T, Cuda>(view), options, context, op);
}
template <class T>
AsyncFactorization<T>::AsyncFactorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context)
    : engine_(engine_for<T>(Given<T, Cuda>(std::move(A)), options, context)) {}
template <class T>
AsyncFactorization<T>::AsyncFactorization(std::unique_ptr<AsyncEngine<T>> engine) : engine_(std::move(engine)) {}
template <class T>
AsyncFactorization<T> AsyncFactorization<T>::of_factors(MatrixView<const T, Cuda> factors, const std::int64_t* pivots,
                                                        const Options& options, const Context& context) {
  Given<T, Cuda> given(factors);
  given.factored = pivots;
  return AsyncFactorization(engine_for<T>(std::move(given), options, context));
}
template <class T>
AsyncFactorization<T>::AsyncFactorization(AsyncFactorization&&) noexcept = default;
template <class T>
AsyncFactorization<T>& AsyncFactorization<T>::operator=(AsyncFactorization&&) noexcept = default;
template <class T>
AsyncFactorization<T>::~AsyncFactorization() = default;

template <class T>
void AsyncFactorization<T>::solve_async(Borrowed<const T> B, Borrowed<T> X, Op op) {
  AsyncEngine<T>& engine = not_moved(engine_);
  require_enumerator(op, "op");
  require_rhs(engine.order, B, X);
  engine.solve(columns_on_device("B", B), columns_on_device("X", X), op_of_stored(engine.stored, op));
}

template <class T>
const std::int64_t* AsyncFactorization<T>::failed_at() const {
  return not_moved(engine_).failed_at();
}

template <class T>
void AsyncFactorization<T>::pivots_async(std::int64_t* to) {
  not_moved(engine_).pivots(to);
}

template <class T>
Outcome AsyncFactorization<T>::wait() {
  AsyncEngine<T>& engine = not_moved(engine_);
  Outcome outcome = engine.wait();
  outcome.of_rows = engine.stored != Op::none;
  return outcome;
}

#define LASOLVE_INSTANTIATE(T) template class AsyncFactorization<T>;
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
