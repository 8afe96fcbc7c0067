// The calls of the C interface that do not wait for the device.
#include "lasolve/async.hpp"

#include <memory>
#include <variant>

#include "c/request.hpp"

using namespace lasolve;
using namespace lasolve::from_c;

struct lasolve_async_factorization {
  template <class T>
  lasolve_async_factorization(const lasolve_options* from, std::int64_t n, const T* A, std::int64_t lda)
      : request(from), n(n), factors(factored(A, lda)) {}

  const Request request;
  const std::int64_t n;
  std::variant<AsyncFactorization<double>, AsyncFactorization<float>> factors;

 private:
  template <class T>
  AsyncFactorization<T> factored(const T* A, std::int64_t lda) const;
};

namespace {

/// The context whose stream is worked in, where options name one.
const Context& context_of(const Request& request) {
  const lasolve_options& given = request.given;
  require(given.context != nullptr, "asynchronous calls work in the stream of a context, and the options have none");
  require(given.memory == LASOLVE_CUDA, "asynchronous calls take device memory: set memory to LASOLVE_CUDA");
  const Context& context = given.context->context;
  require(!given.stream || given.stream == context.stream(),
          "asynchronous calls work in the stream of the context, and the options have another");
  return context;
}

template <class T>
lasolve_status factor(std::int64_t n, const T* A, std::int64_t lda, const lasolve_options* options,
                      lasolve_async_factorization** factors) {
  if (factors) *factors = nullptr;
  return guarded([&] {
    require(factors != nullptr, "there is nowhere to leave the factorization");
    *factors = new lasolve_async_factorization(options, n, A, lda);
    return LASOLVE_OK;
  });
}

template <class T>
lasolve_status solve(lasolve_async_factorization* factors, lasolve_op c_op, std::int64_t nrhs, const T* B,
                     std::int64_t ldb, T* X, std::int64_t ldx) {
  return guarded([&] {
    require(factors != nullptr, "there is no factorization");
    const Request& request = factors->request;
    auto& its = of_its_type<AsyncFactorization<T>>(factors->factors);
    its.solve_async(request.matrix('B', B, factors->n, nrhs, ldb), request.matrix('X', X, factors->n, nrhs, ldx),
                    op_of(c_op));
    return LASOLVE_OK;
  });
}

}  // namespace

template <class T>
AsyncFactorization<T> lasolve_async_factorization::factored(const T* A, std::int64_t lda) const {
  const Context& context = context_of(request);
  return {request.matrix('A', A, n, n, lda), request.options, context};
}

extern "C" {

// Of each type, d and s.
#define LASOLVE_FUNCTIONS(d, T)                                                                                        \
  lasolve_status lasolve_##d##factor_async(lasolve_int n, const T* A, lasolve_int lda, const lasolve_options* options, \
                                           lasolve_async_factorization** factors) {                                    \
    return factor(n, A, lda, options, factors);                                                                        \
  }                                                                                                                    \
  lasolve_status lasolve_##d##solve_async(lasolve_async_factorization* factors, lasolve_op op, lasolve_int nrhs,       \
                                          const T* B, lasolve_int ldb, T* X, lasolve_int ldx) {                        \
    return solve(factors, op, nrhs, B, ldb, X, ldx);                                                                   \
  }
LASOLVE_FUNCTIONS(d, double)
LASOLVE_FUNCTIONS(s, float)
#undef LASOLVE_FUNCTIONS

lasolve_status lasolve_failed_at(const lasolve_async_factorization* factors, const lasolve_int** failed_at) {
  static_assert(sizeof(lasolve_int) == sizeof(std::int64_t));
  if (failed_at) *failed_at = nullptr;
  return guarded([&] {
    require(factors && failed_at, "there is no factorization, or nowhere to leave the address");
    *failed_at = reinterpret_cast<const lasolve_int*>(
        std::visit([](const auto& its) { return its.failed_at(); }, factors->factors));
    return LASOLVE_OK;
  });
}

lasolve_status lasolve_wait(lasolve_async_factorization* factors, lasolve_int* at) {
  return guarded([&] {
    require(factors != nullptr, "there is no factorization");
    const Outcome outcome = std::visit([](auto& its) { return its.wait(); }, factors->factors);
    if (at) *at = outcome.ok() ? -1 : outcome.at;
    return status_of(outcome);
  });
}

void lasolve_free_async(lasolve_async_factorization* factors) { delete factors; }
}
