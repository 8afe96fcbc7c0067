// The C interface over the C++ one: views of the caller's memory, words to enumerators, exceptions to a status.
#include "lasolve/lasolve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <variant>

#include "core/of_this_thread.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"

using namespace lasolve;

struct lasolve_context {
  Context context;
};

namespace {

/// What a report points to, and what was wrong: of the last call on this thread.
struct Said {
  std::string error, message, device, gemm, notes;
};
Said& said() { return of_this_thread<Said>(); }

/// The kernel of the factorization that a call on this thread is about. A GEMM backend is a function without data.
thread_local const lasolve_gemm* kernel_of_this_call = nullptr;

/// The caller's progress function wants no more.
struct Stopped {};

lasolve_op c(Op op) { return op == Op::none ? LASOLVE_NONE : LASOLVE_TRANSPOSE; }

void call_f64(Queue<Cpu>&, double alpha, Operand<double> A, Operand<double> B, double beta, MatrixView<double> C) {
  const lasolve_gemm& k = *kernel_of_this_call;
  k.f64(k.data, c(A.op()), c(B.op()), C.rows(), C.cols(), A.cols(), alpha, A.data(), A.ld(), B.data(), B.ld(), beta,
        C.data(), C.ld());
}
void call_f32(Queue<Cpu>&, float alpha, Operand<float> A, Operand<float> B, float beta, MatrixView<float> C) {
  const lasolve_gemm& k = *kernel_of_this_call;
  k.f32(k.data, c(A.op()), c(B.op()), C.rows(), C.cols(), A.cols(), alpha, A.data(), A.ld(), B.data(), B.ld(), beta,
        C.data(), C.ld());
}

/// A structure of the caller's, of whatever size it was when the caller was compiled. What it lacks is zero; what this library
/// does not know must be.
template <class Struct>
Struct read(const Struct* from, const char* name) {
  Struct copy{};
  if (!from) return copy;
  const std::size_t size = from->size;
  if (size < sizeof size)
    throw std::invalid_argument(std::string(name) + " does not begin with its size: initialize it with the macro");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof copy; i < size; ++i)
    if (bytes[i] != 0) throw std::invalid_argument(std::string(name) + " asks for what this library is too old for");
  std::memcpy(&copy, bytes, std::min(size, sizeof copy));
  return copy;
}

template <class Enum>
Enum enumerator(const char* word, Enum otherwise, const char* what) {
  if (!word) return otherwise;
  if (const auto value = parse<Enum>(word)) return *value;
  std::string known;
  for (const std::string& w : words_of<Enum>()) known += (known.empty() ? "" : ", ") + w;
  throw std::invalid_argument(std::string(what) + " '" + word + "' is unknown; known: " + known);
}

Uplo mirrored(Uplo triangle) {
  return triangle == Uplo::lower ? Uplo::upper : triangle == Uplo::upper ? Uplo::lower : triangle;
}

/// What a caller's options mean, in memory that stays where it is while they are used.
struct Request {
  explicit Request(const lasolve_options* from) : given(read(from, "lasolve_options")) {
    if (given.gemm) options.gemm = std::string(given.gemm);
    if (given.kernel) use(read(given.kernel, "lasolve_gemm"));
    if (given.device) {
      const auto device = parse_device(given.device);
      if (!device) throw std::invalid_argument(std::string("there is no device '") + given.device + "'");
      options.device = *device;
    }
    options.factorization = enumerator(given.method, Method::automatic, "the method");
    options.triangle = enumerator(given.triangle, Uplo::both, "the triangle");
    if (given.row_major) options.triangle = mirrored(options.triangle);
    options.precision = enumerator(given.precision, Precision::automatic, "the precision");
    options.refine = enumerator(given.refine, Refine::automatic, "the refinement");
    options.schedule = enumerator(given.schedule, Schedule::automatic, "the schedule");
    options.block_size = given.block_size;
    options.threads = given.threads;
    options.allow_nonfinite = given.allow_nonfinite != 0;
    options.check = given.no_check == 0;
    options.condition = given.condition != 0;
    if (given.progress)
      options.progress = [progress = given.progress, data = given.progress_data](double fraction) {
        if (progress(data, fraction) != 0) throw Stopped();
      };
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  CUstream_st* stream() const { return given.stream ? static_cast<CUstream_st*>(given.stream) : default_stream(); }

  lasolve_options given;
  lasolve_gemm kernel{};
  std::string kernel_name;
  GemmBackend<Cpu> backend{};
  Options options;

 private:
  void use(const lasolve_gemm& own) {
    require(!given.gemm, "options name a backend and have a kernel of their own");
    require(own.f64 || own.f32, "a kernel offers no precision");
    kernel = own;
    kernel_name = own.name ? own.name : "own kernel";
    backend.name = kernel_name.c_str();
    backend.summary = "the caller's";
    if (own.f64) backend.f64 = call_f64;
    if (own.f32) backend.f32 = call_f32;
    options.gemm = &backend;
  }
};

struct KernelOfThisCall {
  explicit KernelOfThisCall(const Request& request) : before(std::exchange(kernel_of_this_call, &request.kernel)) {}
  ~KernelOfThisCall() { kernel_of_this_call = before; }
  KernelOfThisCall(const KernelOfThisCall&) = delete;
  KernelOfThisCall& operator=(const KernelOfThisCall&) = delete;
  const lasolve_gemm* before;
};

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
  Said& said = ::said();
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

lasolve_status status_of(const Outcome& outcome) {
  if (outcome.ok()) return LASOLVE_OK;
  said().error = outcome.message();
  return outcome.has_solution() ? LASOLVE_INACCURATE : LASOLVE_NO_SOLUTION;
}

/// f() returns a status; what it throws becomes one.
template <class F>
lasolve_status guarded(F f) noexcept {
  const auto failed = [](lasolve_status status, const char* why) {
    try {
      said().error.clear();
      said().error = why;
    } catch (const std::bad_alloc&) {  // the status says it
    }
    return status;
  };
  try {
    said().error.clear();
    return f();
  } catch (const std::invalid_argument& e) {
    constexpr std::size_t prefix = sizeof "lasolve: " - 1;
    return failed(LASOLVE_MISUSE, std::strncmp(e.what(), "lasolve: ", prefix) == 0 ? e.what() + prefix : e.what());
  } catch (const MachineError& e) {
    return failed(LASOLVE_MACHINE, e.what());
  } catch (const std::bad_alloc&) {
    return failed(LASOLVE_MACHINE, "not enough memory on the host");
  } catch (const Stopped&) {
    return failed(LASOLVE_STOPPED, "stopped by the progress function");
  } catch (const std::exception& e) {
    return failed(LASOLVE_INTERNAL, e.what());
  } catch (...) {
    return failed(LASOLVE_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace

struct lasolve_factorization {
  template <class T>
  lasolve_factorization(const lasolve_options* from, std::int64_t n, const T* A, std::int64_t lda)
      : request(from), n(n), factors(factored(A, lda)) {}

  template <class T>
  Factorization<T>& of() {
    auto* const own = std::get_if<Factorization<T>>(&factors);
    require(own != nullptr, "the factorization is of the other type: f64 with d, f32 with s");
    return *own;
  }

  /// X ← op(A)⁻¹ B in the caller's layout.
  template <class T>
  Report solve(lasolve_op c_op, std::int64_t nrhs, const T* B, std::int64_t ldb, T* X, std::int64_t ldx) {
    require(c_op == LASOLVE_NONE || c_op == LASOLVE_TRANSPOSE, "op is LASOLVE_NONE or LASOLVE_TRANSPOSE");
    const bool by_rows = request.given.row_major != 0;
    // A that is stored by rows was factored as its transpose.
    const Op op = (c_op == LASOLVE_TRANSPOSE) != by_rows ? Op::transpose : Op::none;
    Factorization<T>& f = of<T>();
    const KernelOfThisCall own(request);
    if (by_rows && (nrhs != 1 || ldb != 1 || ldx != 1)) return solve_by_rows(f, op, nrhs, B, ldb, X, ldx);
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
    require(request.given.memory == LASOLVE_HOST, "in device memory, row-major B and X have one column, with ld = 1");
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
    const Report& done = made->template of<T>().report();
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
    const Report done = factors->solve<T>(op, nrhs, B, ldb, X, ldx);
    fill(report, done);
    return status_of(done.outcome);
  });
}

template <class T>
lasolve_status solve_once(std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                          T* X, std::int64_t ldx, const lasolve_options* options, lasolve_report* report) {
  return guarded([&] {
    lasolve_factorization factors(options, n, A, lda);
    const Report& factored = factors.of<T>().report();
    if (!factored.outcome.ok()) {
      fill(report, factored);
      return status_of(factored.outcome);
    }
    const Report done = together(factored, factors.solve<T>(LASOLVE_NONE, nrhs, B, ldb, X, ldx));
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
