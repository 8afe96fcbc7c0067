// What a caller of the C interface asks for, as the C++ one understands it; and what a call ends with: a status, and words.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lasolve/context.hpp"
#include "lasolve/lasolve.h"
#include "lasolve/lasolve.hpp"

struct lasolve_context {
  lasolve::Context context;
};

namespace lasolve::from_c {

/// What a report points to, and what was wrong: of the last call on this thread.
struct Said {
  std::string error, message, device, gemm, notes;
  std::vector<double> history;
};
Said& said();

/// The caller's progress function wants no more.
struct Stopped {};

lasolve_status status_of(const Outcome&);
/// Of the exception that is being handled.
lasolve_status status_of_exception() noexcept;

/// f() returns a status; what it throws becomes one.
template <class F>
lasolve_status guarded(F f) noexcept {
  try {
    said().error.clear();
    return f();
  } catch (...) {
    return status_of_exception();
  }
}

/// What a caller's options mean, in memory that stays where it is while they are used.
struct Request {
  explicit Request(const lasolve_options*);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  CUstream_st* stream() const { return given.stream ? static_cast<CUstream_st*>(given.stream) : default_stream(); }
  After after() const { return given.context ? After(given.context->context, stream()) : After(stream()); }
  bool by_rows() const { return given.row_major != 0; }
  /// n × n or n × nrhs, in the caller's order and memory. Throws std::invalid_argument, in the words of the interface, for what is no such
  /// matrix. Its name is a letter.
  template <class T>
  Borrowed<T> matrix(char name, T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) const {
    require_matrix(name, data, rows, cols, ld);
    const bool on_cuda = given.memory == LASOLVE_CUDA;
    return by_rows() ? Borrowed<T>(data, rows, cols, ld, 1, on_cuda) : Borrowed<T>(data, rows, cols, 1, ld, on_cuda);
  }

  lasolve_options given;
  lasolve_gemm kernel{};
  std::string kernel_name;
  GemmBackend<Cpu> on_cpu{};  // of the kernel, on its device
  GemmBackend<Cuda> on_cuda{};
  Options options;

 private:
  void require_matrix(char name, const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) const;
  void use(const lasolve_gemm& own);
  void tune(const std::string& changes);
};

Op op_of(lasolve_op);

/// The factorization, if it is of the type that a function is for.
template <class Wanted, class... Types>
Wanted& of_its_type(std::variant<Types...>& factors) {
  Wanted* const its = std::get_if<Wanted>(&factors);
  require(its != nullptr, "the factorization is of the other type: f64 with d, f32 with s");
  return *its;
}

}  // namespace lasolve::from_c
