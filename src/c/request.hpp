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
  bool by_rows() const { return given.row_major != 0; }
  /// Whether the transpose of A is factored, as what its memory holds by columns. On the host there are views of rows, which do that
  /// themselves.
  bool is_flipped() const { return by_rows() && given.memory == LASOLVE_CUDA; }
  /// Of a factorization, as the caller counts.
  Outcome as_given(Outcome outcome) const {
    outcome.of_rows = by_rows();
    return outcome;
  }

  lasolve_options given;
  lasolve_gemm kernel{};
  std::string kernel_name;
  GemmBackend<Cpu> on_cpu{};  // of the kernel, on its device
  GemmBackend<Cuda> on_cuda{};
  Options options;

 private:
  void use(const lasolve_gemm& own);
  void tune(const std::string& changes);
};

/// What `op` is of the matrix that was factored.
Op op_of(lasolve_op op, bool is_flipped);

/// Throws std::invalid_argument, in the words of the interface, for what is no rows × cols matrix. Its name is a letter.
void require_matrix(char name, const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, bool by_rows);

/// Those of a device, whose row-major B and X have to lie as columns do.
template <class T>
struct SidesOnDeviceMemory {
  SidesOnDeviceMemory(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb, T* X, std::int64_t ldx,
                      bool by_rows)
      : b(B, n, nrhs, by_rows ? column(n, nrhs, ldb) : ldb), x(X, n, nrhs, by_rows ? column(n, nrhs, ldx) : ldx) {}
  MatrixView<const T, Cuda> b;
  MatrixView<T, Cuda> x;

 private:
  static std::int64_t column(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
    require(nrhs == 1 && ld == 1, "in device memory, row-major B and X have one column, with ld = 1");
    return n;
  }
};

/// The factorization, if it is of the type that a function is for.
template <class Wanted, class... Types>
Wanted& of_its_type(std::variant<Types...>& factors) {
  Wanted* const its = std::get_if<Wanted>(&factors);
  require(its != nullptr, "the factorization is of the other type: f64 with d, f32 with s");
  return *its;
}

}  // namespace lasolve::from_c
