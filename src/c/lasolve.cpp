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
#include "c/status.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"

using namespace lasolve;
using namespace lasolve::from_c;

namespace {

/// Rows as columns: Xᵀ of an n × nrhs matrix whose rows lie one after the other.
template <class T>
void copy_transposed(std::int64_t n, std::int64_t nrhs, const T* from, std::int64_t row, std::int64_t column, T* to,
                     std::int64_t to_row, std::int64_t to_column) {
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) to[i * to_row + j * to_column] = from[i * row + j * column];
}

void fill(lasolve_report* to, const Report& r) {
  if (!to) return;
  const std::size_t size = to->size;
  if (size < sizeof size) throw std::invalid_argument("lasolve_report does not begin with its size: use the macro");
  Said& said = from_c::said();
  said.message = r.outcome.message();
  said.device = r.device;
  said.gemm = r.gemm;
  said.notes.clear();
  for (const std::string& note : r.notes) said.notes += (said.notes.empty() ? "" : "\n") + note;
  const auto or_nan = [](const std::optional<double>& x) { return x.value_or(std::nan("")); };
  lasolve_report all{};
  all.size = size;
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
  all.block_size = r.block_size;
  all.factor_seconds = r.factor_seconds;
  all.solve_seconds = r.solve_seconds;
  all.total_seconds = r.total_seconds;
  all.backward_error = or_nan(r.backward_error);
  all.hpl_residual = or_nan(r.hpl_residual);
  all.rcond = or_nan(r.rcond);
  all.digits = or_nan(r.digits);
  all.refine_iterations = r.refine_iterations;
  all.notes = said.notes.c_str();
  std::memcpy(to, &all, std::min(size, sizeof all));
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

  /// Of row-major data the columns that were factored are rows.
  Report report() const {
    Report its = std::visit([](const auto& f) { return f.report(); }, factors);
    its.outcome.of_rows = request.given.row_major != 0;
    return its;
  }

  /// X ← op(A)⁻¹ B in the caller's layout.
  template <class T>
  Report solve(lasolve_op c_op, std::int64_t nrhs, const T* B, std::int64_t ldb, T* X, std::int64_t ldx) {
    const bool by_rows = request.given.row_major != 0;
    const Op op = op_of(c_op, by_rows);
    Factorization<T>& f = of<T>();
    const KernelOfThisCall own(request);
    if (!lie_as_columns(by_rows, nrhs, ldb, ldx)) return solve_by_rows(f, op, nrhs, B, ldb, X, ldx);
    if (by_rows) ldb = ldx = std::max<std::int64_t>(n, 1);
    if (request.given.memory == LASOLVE_CUDA)
      return f.solve(MatrixView<const T, Cuda>(B, n, nrhs, ldb), MatrixView<T, Cuda>(X, n, nrhs, ldx), op,
                     request.stream());
    return f.solve(MatrixView<const T>(B, n, nrhs, ldb), MatrixView<T>(X, n, nrhs, ldx), op);
  }

  Request request;
  const std::int64_t n;
  std::variant<Factorization<double>, Factorization<float>> factors;

 private:
  template <class T>
  std::variant<Factorization<double>, Factorization<float>> factored(const T* A, std::int64_t lda) {
    const KernelOfThisCall own(request);
    require(request.given.memory == LASOLVE_HOST || request.given.memory == LASOLVE_CUDA,
            "memory is LASOLVE_HOST or LASOLVE_CUDA");
    const lasolve_context* const its = request.given.context;
    if (request.given.memory == LASOLVE_CUDA) {
      const MatrixView<const T, Cuda> view(A, n, n, lda);
      if (its) return Factorization<T>(view, request.options, its->context, request.stream());
      return Factorization<T>(view, request.options, request.stream());
    }
    const MatrixView<const T> view(A, n, n, lda);
    if (its) return Factorization<T>(view, request.options, its->context);
    return Factorization<T>(view, request.options);
  }

  template <class T>
  Report solve_by_rows(Factorization<T>& f, Op op, std::int64_t nrhs, const T* B, std::int64_t ldb, T* X,
                       std::int64_t ldx) {
    require(request.given.memory == LASOLVE_HOST, one_column_on_a_device);
    require(nrhs >= 0 && ldb >= nrhs && ldx >= nrhs, "the leading dimension is smaller than the number of columns");
    require((B && X) || nrhs == 0 || n == 0, "a matrix that is not empty has no data");
    Matrix<T> columns(n, nrhs);
    const MatrixView<T> view = columns.view();
    copy_transposed(n, nrhs, B, ldb, 1, view.data(), 1, view.ld());
    Report report = f.solve(MatrixView<const T>(view), view, op);
    if (report.outcome.has_solution()) copy_transposed<T>(n, nrhs, view.data(), 1, view.ld(), X, ldx, 1);
    return report;
  }
};

namespace {

template <class T>
lasolve_status factor(std::int64_t n, const T* A, std::int64_t lda, const lasolve_options* options,
                      lasolve_factorization** factors, lasolve_report* report) {
  if (factors) *factors = nullptr;
  return guarded([&] {
    require(factors != nullptr, "there is nowhere to leave the factorization");
    auto made = std::make_unique<lasolve_factorization>(options, n, A, lda);
    const Report done = made->report();
    fill(report, done);
    const lasolve_status status = status_of(done.outcome);
    *factors = made.release();
    return status;
  });
}

template <class T>
lasolve_status solve_with(lasolve_factorization* factors, lasolve_op op, std::int64_t nrhs, const T* B,
                          std::int64_t ldb, T* X, std::int64_t ldx, lasolve_report* report) {
  return guarded([&] {
    require(factors != nullptr, "there is no factorization");
    Report done = factors->solve<T>(op, nrhs, B, ldb, X, ldx);
    if (!done.outcome.has_solution()) done.outcome = factors->report().outcome;
    fill(report, done);
    return status_of(done.outcome);
  });
}

template <class T>
lasolve_status solve_once(std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                          T* X, std::int64_t ldx, const lasolve_options* options, lasolve_report* report) {
  return guarded([&] {
    lasolve_factorization factors(options, n, A, lda);
    const Report factored = factors.report();
    if (!factored.outcome.ok()) {
      fill(report, factored);
      return status_of(factored.outcome);
    }
    Report solved = factors.solve<T>(LASOLVE_NONE, nrhs, B, ldb, X, ldx);
    const Report done = together(factors.report(), std::move(solved));
    fill(report, done);
    return status_of(done.outcome);
  });
}

}  // namespace

extern "C" {

lasolve_status lasolve_dfactor(lasolve_int n, const double* A, lasolve_int lda, const lasolve_options* options,
                               lasolve_factorization** factors, lasolve_report* report) {
  return factor(n, A, lda, options, factors, report);
}
lasolve_status lasolve_sfactor(lasolve_int n, const float* A, lasolve_int lda, const lasolve_options* options,
                               lasolve_factorization** factors, lasolve_report* report) {
  return factor(n, A, lda, options, factors, report);
}

lasolve_status lasolve_dsolve_with(lasolve_factorization* factors, lasolve_op op, lasolve_int nrhs, const double* B,
                                   lasolve_int ldb, double* X, lasolve_int ldx, lasolve_report* report) {
  return solve_with(factors, op, nrhs, B, ldb, X, ldx, report);
}
lasolve_status lasolve_ssolve_with(lasolve_factorization* factors, lasolve_op op, lasolve_int nrhs, const float* B,
                                   lasolve_int ldb, float* X, lasolve_int ldx, lasolve_report* report) {
  return solve_with(factors, op, nrhs, B, ldb, X, ldx, report);
}

lasolve_status lasolve_rcond(lasolve_factorization* factors, double* rcond) {
  return guarded([&] {
    require(factors && rcond, "there is no factorization, or nowhere to leave the condition number");
    const KernelOfThisCall own(factors->request);
    *rcond = std::visit([](auto& f) { return f.rcond(); }, factors->factors);
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

lasolve_status lasolve_dsolve(lasolve_int n, lasolve_int nrhs, const double* A, lasolve_int lda, const double* B,
                              lasolve_int ldb, double* X, lasolve_int ldx, const lasolve_options* options,
                              lasolve_report* report) {
  return solve_once(n, nrhs, A, lda, B, ldb, X, ldx, options, report);
}
lasolve_status lasolve_ssolve(lasolve_int n, lasolve_int nrhs, const float* A, lasolve_int lda, const float* B,
                              lasolve_int ldb, float* X, lasolve_int ldx, const lasolve_options* options,
                              lasolve_report* report) {
  return solve_once(n, nrhs, A, lda, B, ldb, X, ldx, options, report);
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
