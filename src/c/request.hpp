// What a caller of the C interface asks for, as the C++ one understands it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "lasolve/context.hpp"
#include "lasolve/lasolve.h"
#include "lasolve/lasolve.hpp"

struct lasolve_context {
  lasolve::Context context;
};

namespace lasolve::from_c {

/// What a caller's options mean, in memory that stays where it is while they are used.
struct Request {
  explicit Request(const lasolve_options*);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  CUstream_st* stream() const { return given.stream ? static_cast<CUstream_st*>(given.stream) : default_stream(); }

  lasolve_options given;
  lasolve_gemm kernel{};
  std::string kernel_name;
  GemmBackend<Cpu> on_cpu{};  // of the kernel, at its place
  GemmBackend<Cuda> on_cuda{};
  Options options;

 private:
  void use(const lasolve_gemm& own);
  void tune(const std::string& changes);
};

/// What `op` is of the matrix that was factored: A that is stored by rows was factored as its transpose.
Op op_of(lasolve_op op, bool by_rows);

/// Whether B and X lie as columns do: by rows only one can.
inline bool lie_as_columns(bool by_rows, std::int64_t nrhs, std::int64_t ldb, std::int64_t ldx) {
  return !by_rows || (nrhs == 1 && ldb == 1 && ldx == 1);
}
inline constexpr const char* one_column_on_a_device =
    "in device memory, row-major B and X have one column, with ld = 1";

/// The factorization, if it is of the type that a function is for.
template <class Wanted, class... Types>
Wanted& of_its_type(std::variant<Types...>& factors) {
  Wanted* const its = std::get_if<Wanted>(&factors);
  require(its != nullptr, "the factorization is of the other type: f64 with d, f32 with s");
  return *its;
}

/// A request's own kernel is the one that is called, as long as this lives.
struct KernelOfThisCall {
  explicit KernelOfThisCall(const Request&);
  ~KernelOfThisCall();
  KernelOfThisCall(const KernelOfThisCall&) = delete;
  KernelOfThisCall& operator=(const KernelOfThisCall&) = delete;
  const lasolve_gemm* before;
};

}  // namespace lasolve::from_c
