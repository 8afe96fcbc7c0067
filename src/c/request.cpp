#include "c/request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "c/status.hpp"
#include "lasolve/names.hpp"

namespace lasolve::from_c {

namespace {

/// The kernel of the factorization that a call on this thread is about. A GEMM backend is a function without data.
thread_local const lasolve_gemm* kernel_of_this_call = nullptr;

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

}  // namespace

Request::Request(const lasolve_options* from) : given(read(from, "lasolve_options")) {
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

void Request::use(const lasolve_gemm& own) {
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

Op op_of(lasolve_op op, bool by_rows) {
  require(op == LASOLVE_NONE || op == LASOLVE_TRANSPOSE, "op is LASOLVE_NONE or LASOLVE_TRANSPOSE");
  return (op == LASOLVE_TRANSPOSE) != by_rows ? Op::transpose : Op::none;
}

KernelOfThisCall::KernelOfThisCall(const Request& request)
    : before(std::exchange(kernel_of_this_call, &request.kernel)) {}
KernelOfThisCall::~KernelOfThisCall() { kernel_of_this_call = before; }

}  // namespace lasolve::from_c
