// The C interface over the C++ one: views of the caller's memory, words to enumerators, exceptions to a status.
#include "lasolve/lasolve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <variant>

#include "c/request.hpp"
#include "core/memory_sources.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/arguments.hpp"

using namespace lasolve;
using namespace lasolve::from_c;

namespace {

/// Of a size that the caller's program knows.
void write(lasolve_report* to, lasolve_report all) {
  if (!to) return;
  all.size = to->size;
  std::memcpy(to, &all, std::min(to->size, sizeof all));
}

/// Of a call that ended with another status than a report has: nothing but why.
lasolve_report only(const char* message) {
  const double none = std::nan("");
  lasolve_report all{};
  for (const char** word : {&all.outcome, &all.device, &all.gemm, &all.method, &all.precision, &all.schedule,
                            &all.notes, &all.equilibration, &all.pivoting})
    *word = "";
  for (double* number : {&all.factor_seconds, &all.solve_seconds, &all.total_seconds, &all.backward_error,
                         &all.hpl_residual, &all.rcond, &all.digits, &all.forward_error_bound,
                         &all.componentwise_backward_error, &all.growth, &all.largest_multiplier, &all.norm_growth})
    *number = none;
  all.message = message;
  return all;
}

void fill(lasolve_report* to, const Report& r) {
  if (!to) return;
  Said& said = from_c::said();
  said.message = r.outcome.message();
  said.device = r.device;
  said.gemm = r.gemm;
  said.notes.clear();
  for (const std::string& note : r.notes) said.notes += (said.notes.empty() ? "" : "\n") + note;
  const auto or_nan = [](const std::optional<double>& x) { return x.value_or(std::nan("")); };
  lasolve_report all{};
  all.outcome = name_of(r.outcome.kind);
  all.message = said.message.c_str();
  all.at = r.outcome.at;
  all.n = r.n;
  all.nrhs = r.nrhs;
  all.device = said.device.c_str();
  all.gemm = said.gemm.c_str();
  all.method = name_of(r.method);
  all.precision = name_of(r.precision);
  all.schedule = name_of(r.schedule);
  all.equilibration = name_of(r.equilibration);
  all.pivoting = name_of(r.pivoting);
  all.block_size = r.block_size;
  all.factor_seconds = r.factor_seconds;
  all.solve_seconds = r.solve_seconds;
  all.total_seconds = r.total_seconds;
  all.backward_error = or_nan(r.backward_error);
  all.hpl_residual = or_nan(r.hpl_residual);
  all.rcond = or_nan(r.rcond);
  all.digits = or_nan(r.digits);
  all.refine_iterations = r.refine_iterations;
  all.gmres_steps = r.gmres_steps;
  all.forward_error_bound = or_nan(r.forward_error_bound);
  all.componentwise_backward_error = or_nan(r.componentwise_backward_error);
  all.growth = or_nan(r.growth);
  all.largest_multiplier = or_nan(r.largest_multiplier);
  all.norm_growth = or_nan(r.norm_growth);
  said.history.clear();
  for (const auto& row : r.residual_history) said.history.insert(said.history.end(), row.begin(), row.end());
  if (!said.history.empty()) {
    all.residual_history = said.history.data();
    all.residual_history_rows = std::int64_t(r.residual_history.size());
    all.residual_history_columns = std::int64_t(r.residual_history.front().size());
  }
  all.notes = said.notes.c_str();
  write(to, all);
}

/// f() returns a status, and has filled the report; else the report says why not.
template <class F>
lasolve_status reported(lasolve_report* report, F f) noexcept {
  const bool has_size = report && report->size >= sizeof report->size;
  bool is_filled = false;
  const lasolve_status status = guarded([&] {
    if (report && !has_size) throw std::invalid_argument("lasolve_report does not begin with its size: use the macro");
    const lasolve_status done = f();
    is_filled = true;
    return done;
  });
  if (has_size && !is_filled) write(report, only(lasolve_last_error()));
  return status;
}

}  // namespace

struct lasolve_factorization {
  template <class T>
  lasolve_factorization(const lasolve_options* from, std::int64_t n, const T* A, std::int64_t lda)
      : request(from), n(n), factors(factored(A, lda)) {}

  template <class T>
  Factorization<T>& of() {
    return of_its_type<Factorization<T>>(factors);
  }

  /// X ← op(A)⁻¹ B in the caller's layout.
  template <class T>
  Report solve(lasolve_op op, std::int64_t nrhs, const T* B, std::int64_t ldb, T* X, std::int64_t ldx) {
    Factorization<T>& f = of<T>();
    return f.solve(request.matrix('B', B, n, nrhs, ldb), request.matrix('X', X, n, nrhs, ldx), op_of(op),
                   request.stream());
  }

  Request request;
  const std::int64_t n;
  std::variant<Factorization<double>, Factorization<float>> factors;

 private:
  template <class T>
  Factorization<T> factored(const T* A, std::int64_t lda) {
    const auto matrix = request.matrix('A', A, n, n, lda);
    return Factorization<T>(request.given.copy ? matrix.to_be_copied() : matrix, request.options, request.after());
  }
};

namespace {

template <class T>
lasolve_status factor(std::int64_t n, const T* A, std::int64_t lda, const lasolve_options* options,
                      lasolve_factorization** factors, lasolve_report* report) {
  if (factors) *factors = nullptr;
  return reported(report, [&] {
    require(factors != nullptr, "there is nowhere to leave the factorization");
    auto made = std::make_unique<lasolve_factorization>(options, n, A, lda);
    const Report done = made->template of<T>().report();
    fill(report, done);
    const lasolve_status status = status_of(done.outcome);
    *factors = made.release();
    return status;
  });
}

template <class T>
lasolve_status solve_with(lasolve_factorization* factors, lasolve_op op, std::int64_t nrhs, const T* B,
                          std::int64_t ldb, T* X, std::int64_t ldx, lasolve_report* report) {
  return reported(report, [&] {
    require(factors != nullptr, "there is no factorization");
    const Report done = factors->solve<T>(op, nrhs, B, ldb, X, ldx);
    fill(report, done);
    return status_of(done.outcome);
  });
}

template <class T>
lasolve_status solve_once(std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                          T* X, std::int64_t ldx, const lasolve_options* options, lasolve_report* report) {
  return reported(report, [&] {
    lasolve_factorization factors(options, n, A, lda);
    require_disjoint(extent_of(factors.request.matrix('A', A, n, n, lda)),
                     extent_of(factors.request.matrix('X', X, n, nrhs, ldx)));
    Report solved = factors.solve<T>(LASOLVE_NONE, nrhs, B, ldb, X, ldx);
    const Report done = combined(factors.of<T>().report(), std::move(solved));
    fill(report, done);
    return status_of(done.outcome);
  });
}

}  // namespace

extern "C" {

// Of each type, d and s.
#define LASOLVE_FUNCTIONS(d, T)                                                                                       \
  lasolve_status lasolve_##d##factor(lasolve_int n, const T* A, lasolve_int lda, const lasolve_options* options,      \
                                     lasolve_factorization** factors, lasolve_report* report) {                       \
    return factor(n, A, lda, options, factors, report);                                                               \
  }                                                                                                                   \
  lasolve_status lasolve_##d##solve_with(lasolve_factorization* factors, lasolve_op op, lasolve_int nrhs, const T* B, \
                                         lasolve_int ldb, T* X, lasolve_int ldx, lasolve_report* report) {            \
    return solve_with(factors, op, nrhs, B, ldb, X, ldx, report);                                                     \
  }                                                                                                                   \
  lasolve_status lasolve_##d##solve(lasolve_int n, lasolve_int nrhs, const T* A, lasolve_int lda, const T* B,         \
                                    lasolve_int ldb, T* X, lasolve_int ldx, const lasolve_options* options,           \
                                    lasolve_report* report) {                                                         \
    return solve_once(n, nrhs, A, lda, B, ldb, X, ldx, options, report);                                              \
  }
LASOLVE_FUNCTIONS(d, double)
LASOLVE_FUNCTIONS(s, float)
#undef LASOLVE_FUNCTIONS

lasolve_status lasolve_rcond(lasolve_factorization* factors, double* rcond) {
  return guarded([&] {
    require(factors && rcond, "there is no factorization, or nowhere to leave the condition number");
    *rcond = std::visit([](auto& f) { return f.rcond(); }, factors->factors);
    return LASOLVE_OK;
  });
}

lasolve_status lasolve_log_abs_det(lasolve_factorization* factors, double* log_abs, int* sign) {
  return guarded([&] {
    require(factors && log_abs && sign, "there is no factorization, or nowhere to leave the determinant");
    const LogDeterminant its = std::visit([](auto& f) { return f.log_abs_det(); }, factors->factors);
    *log_abs = its.log_abs, *sign = its.sign;
    return LASOLVE_OK;
  });
}

void lasolve_free(lasolve_factorization* factors) { delete factors; }

lasolve_status lasolve_make_context(int device, void* stream, lasolve_context** context) {
  if (context) *context = nullptr;
  return guarded([&] {
    require(context != nullptr, "there is nowhere to leave the context");
    *context = new lasolve_context{Context(device, static_cast<CUstream_st*>(stream))};
    return LASOLVE_OK;
  });
}

void lasolve_free_context(lasolve_context* context) { delete context; }

void lasolve_memory_from(const lasolve_memory_source* host, const lasolve_memory_source* device) {
  lasolve::sources_of_thread = {host, device};
}

const char* lasolve_last_error(void) {
  try {
    return said().error.c_str();
  } catch (const std::bad_alloc&) {
    return "not enough memory on the host";
  }
}

const char* lasolve_version(void) { return version(); }
}
