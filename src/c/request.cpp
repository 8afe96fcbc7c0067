#include "c/request.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>

#include "core/choose.hpp"
#include "core/misuse.hpp"
#include "core/of_this_thread.hpp"
#include "core/tuning.hpp"
#include "lasolve/names.hpp"

namespace lasolve::from_c {

namespace {

lasolve_op c(Op op) { return op == Op::none ? LASOLVE_NONE : LASOLVE_TRANSPOSE; }

void* data_for(Queue<Cpu>&, const lasolve_gemm& kernel) { return kernel.data; }
void* data_for(Queue<Cuda>& q, const lasolve_gemm&) { return q.stream(); }

template <auto lasolve_gemm::*function, class T, class Space>
void call(const void* self, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
          MatrixView<T, Space> C) {
  const lasolve_gemm& kernel = *static_cast<const lasolve_gemm*>(self);
  (kernel.*function)(data_for(q, kernel), c(A.op()), c(B.op()), C.rows(), C.cols(), A.cols(), alpha, A.data(), A.ld(),
                     B.data(), B.ld(), beta, C.data(), C.ld());
}

/// The record of a kernel as one of a device.
template <class Space>
GemmBackend<Space>* backend_of(const lasolve_gemm& kernel, const std::string& name, GemmBackend<Space>& backend) {
  backend.name = name.c_str();
  backend.summary = "the caller's";
  backend.kernels = {GemmKernel<Precision::fp64, Space>(kernel.f64 ? call<&lasolve_gemm::f64, double, Space> : nullptr),
                     GemmKernel<Precision::fp32, Space>(kernel.f32 ? call<&lasolve_gemm::f32, float, Space> : nullptr)};
  backend.self = &kernel;
  return &backend;
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

}  // namespace

Request::Request(const lasolve_options* from) : given(read(from, "lasolve_options")) {
  require(given.memory == LASOLVE_HOST || given.memory == LASOLVE_CUDA, "memory is LASOLVE_HOST or LASOLVE_CUDA");
  if (given.gemm) options.gemm = std::string(given.gemm);
  if (given.kernel) use(read(given.kernel, "lasolve_gemm"));
  if (given.device) {
    const auto devices = parse_devices(given.device);
    if (!devices || devices->all)
      throw std::invalid_argument(std::string("there is no device '") + given.device +
                                  "', but auto, cpu, cuda, cuda:1, several as cuda:0,1, and so on");
    options.device = devices->first, options.cards = devices->cards;
  }
  options.factorization = enumerator(given.method, Method::automatic, "the method");
  options.pivoting = enumerator(given.pivoting, Pivoting::automatic, "the pivoting");
  options.triangle = enumerator(given.triangle, Uplo::both, "the triangle");
  options.precision = enumerator(given.precision, Precision::automatic, "the precision");
  options.storage = enumerator(given.storage, Precision::automatic, "the storage");
  options.refine = enumerator(given.refine, Refine::automatic, "the refinement");
  options.schedule = enumerator(given.schedule, Schedule::automatic, "the schedule");
  options.block_size = given.block_size;
  options.threads = given.threads;
  options.allow_nonfinite = given.allow_nonfinite != 0;
  options.accuracy = given.accuracy;
  options.bounds = given.bounds != 0;
  options.history = given.history != 0;
  options.device_memory = given.device_memory;
  if (given.card_shares) {
    const auto shares = parse_numbers(given.card_shares);
    if (!shares)
      throw std::invalid_argument(std::string("card_shares must be whole numbers, as 2,1, not '") + given.card_shares +
                                  "'");
    options.card_shares = *shares;
  }
  options.residual = enumerator(given.residual, Residual::working, "the residual");
  options.assume_suitable = given.assume_suitable != 0;
  options.check = given.no_check == 0;
  const auto wanted = [](int by) { return by > 0 ? Wanted::on : by < 0 ? Wanted::off : Wanted::automatic; };
  options.condition = wanted(given.condition), options.equilibrate = wanted(given.equilibrate);
  if (given.tuning) tune(given.tuning);
  if (given.progress)
    options.progress = [progress = given.progress, data = given.progress_data](double fraction) {
      if (progress(data, fraction) != 0) throw Stopped();
    };
}

void Request::use(const lasolve_gemm& own) {
  require(!given.gemm, "options name a backend and have a kernel of their own");
  require(own.f64 || own.f32, "a kernel offers no precision");
  require(own.memory == LASOLVE_HOST || own.memory == LASOLVE_CUDA,
          "memory of a kernel is LASOLVE_HOST or LASOLVE_CUDA");
  kernel = own;
  kernel_name = own.name ? own.name : "plugin kernel";
  if (own.memory == LASOLVE_CUDA)
    options.gemm = backend_of(kernel, kernel_name, on_cuda);
  else
    options.gemm = backend_of(kernel, kernel_name, on_cpu);
}

void Request::tune(const std::string& changes) {
  options.tuning =
      tuning_of(given.context ? Device{Device::cuda, given.context->context.device()} : choose(options).device());
  std::istringstream words(changes);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const char* const first = equals == word.npos ? end : word.data() + equals + 1;
    if (std::from_chars(first, end, value).ptr != end || first == end)
      throw std::invalid_argument("the tuning takes name=value, not '" + word + "'");
    lasolve::tune(*options.tuning, word.substr(0, equals), value);
  }
}

Op op_of(lasolve_op op) {
  require(op == LASOLVE_NONE || op == LASOLVE_TRANSPOSE, "op is LASOLVE_NONE or LASOLVE_TRANSPOSE");
  return op == LASOLVE_TRANSPOSE ? Op::transpose : Op::none;
}

void Request::require_matrix(char name, const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) const {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument(std::string(1, name) + why); };
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 0 || cols < 0) refuse(" has a negative size, " + size);
  const std::int64_t least = by_rows() ? cols : rows;
  if (ld < least)
    refuse(" has " + std::to_string(least) + (by_rows() ? " columns" : " rows") +
           ", and its leading dimension is less: ld" + char(name - 'A' + 'a') + " is " + std::to_string(ld) +
           (by_rows() ? "" : "; where rows lie one after the other, set row_major"));
  if (!data && rows > 0 && cols > 0) refuse(" is NULL, but has a size, " + size);
}

Said& said() { return of_this_thread<Said>(); }

lasolve_status status_of(const Outcome& outcome) {
  if (outcome.ok()) return LASOLVE_OK;
  said().error = outcome.message();
  return outcome.has_solution() ? LASOLVE_INACCURATE : LASOLVE_NO_SOLUTION;
}

/// A sentence of misuse begins as in C++.
static lasolve_status failed(lasolve_status status, const char* why) {
  constexpr const char prefix[] = "lasolve: ";
  try {
    said().error.clear();
    if (status == LASOLVE_MISUSE && std::strncmp(why, prefix, sizeof prefix - 1) != 0) said().error = prefix;
    said().error += why;
  } catch (const std::bad_alloc&) {  // the status says it
  }
  return status;
}

lasolve_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Misuse& e) {
    return failed(LASOLVE_MISUSE, e.in_c.c_str());
  } catch (const std::invalid_argument& e) {
    return failed(LASOLVE_MISUSE, e.what());
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

}  // namespace lasolve::from_c
