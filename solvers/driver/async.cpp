#include "lasolve/async.hpp"

#include "core/choose.hpp"
#include "solvers/driver/arguments.hpp"
#include "solvers/driver/blocking.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"

namespace lasolve {

namespace {

/// Throws std::invalid_argument where something would be decided on the host. The precision of the factors.
SolvePrecision require_decided(const Options& options, Precision of_A) {
  require(options.factorization != Method::automatic,
          "a factorization that nobody waits for cannot look at A: the options have to name the method");
  require(!options.check,
          "a factorization that nobody waits for cannot check solutions: the options have to leave out the check");
  require(!options.condition,
          "a factorization that nobody waits for cannot estimate the condition of A: the options must not ask for it");
  require(
      !options.progress,
      "a factorization that nobody waits for tells nothing of its progress: the options must have no function for it");
  const SolvePrecision in = solve_precision(options.precision, of_A);
  require(refine_for(options, in) == Refine::none,
          "a factorization that nobody waits for cannot refine, which ends by the residual: the options have to ask "
          "for none");
  require(!has_narrow_range(in.products),
          "a factorization that nobody waits for cannot look how large A is, which products in fp16 need: the options "
          "have to ask for another precision");
  require(
      in.storage == of_A,
      "a factorization that nobody waits for stores factors in the type of A: the options ask for another precision");
  return in;
}

template <class T>
std::unique_ptr<AsyncEngine<T>> engine_for(Given<T, Cuda> A, const Options& wanted, const Context& context) {
  require_square(A.A.rows(), A.A.cols());
  require_enumerators(wanted);
  require(context.stream() != nullptr,
          "a factorization that nobody waits for works in the order of a stream, and the context has none");
  const Options options = on_its_device(*context.state(), wanted);
  const SolvePrecision in = require_decided(options, precision_of<T>);
  const Choice choice = choose(options);
  require(choice.backend.index() == 1, "the matrix is on a CUDA device, but the backend runs on the CPU");
  require_offered(*std::get<1>(choice.backend), options, in.products);
  const std::int64_t order = A.A.rows();
  auto engine = make_async_engine<T>(std::move(A), *std::get<1>(choice.backend), options, in, context.state());
  engine->order = order;
  return engine;
}

}  // namespace

template <class T>
AsyncFactorization<T>::AsyncFactorization(MatrixView<const T, Cuda> A, const Options& options, const Context& context)
    : engine_(engine_for<T>(Given<T, Cuda>(A), options, context)) {}
template <class T>
AsyncFactorization<T>::AsyncFactorization(Matrix<T, Cuda>&& A, const Options& options, const Context& context)
    : engine_(engine_for<T>(Given<T, Cuda>(std::move(A)), options, context)) {}
template <class T>
AsyncFactorization<T>::AsyncFactorization(AsyncFactorization&&) noexcept = default;
template <class T>
AsyncFactorization<T>& AsyncFactorization<T>::operator=(AsyncFactorization&&) noexcept = default;
template <class T>
AsyncFactorization<T>::~AsyncFactorization() = default;

template <class T>
void AsyncFactorization<T>::solve_async(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op) {
  AsyncEngine<T>& engine = not_moved(engine_);
  require_enumerator(op, "op");
  require_sides(engine.order, B, X);
  engine.solve(B, X, op);
}

template <class T>
const std::int64_t* AsyncFactorization<T>::failed_at() const {
  return not_moved(engine_).failed_at();
}

template <class T>
Outcome AsyncFactorization<T>::wait() {
  return not_moved(engine_).wait();
}

template class AsyncFactorization<double>;
template class AsyncFactorization<float>;

}  // namespace lasolve
