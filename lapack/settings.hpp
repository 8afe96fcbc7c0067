// What the environment says, read once; and what the program around us has.
#pragma once

#include <cstdint>
#include <string>

#include "lasolve/gemm.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::lapack {

struct Settings {
  /// LASOLVE_CROSSOVER: systems of a lower order are left to the LAPACK that comes next, where there is one.
  std::int64_t crossover = 0;
  std::string gemm;                   ///< LASOLVE_GEMM
  Device device = {Device::cpu, 0};   ///< LASOLVE_DEVICE: where systems go of at least the order
  std::int64_t device_crossover = 0;  ///< LASOLVE_DEVICE_CROSSOVER
  std::int64_t block_size = 0;        ///< LASOLVE_BLOCK_SIZE; 0: open
  int threads = 0;                    ///< LASOLVE_THREADS; 0: all
  /// Why all is left to the next LAPACK; empty: it is not. Said once on standard error.
  std::string refused;
};
const Settings& settings();

/// LASOLVE_GEMM on the CPU, or what is fastest there; its products are counted. Null: it cannot be had, which is said once.
const GemmBackend<Cpu>* backend();
/// That, or else the first that there is, for programs without another LAPACK.
const GemmBackend<Cpu>& products();

/// Columns of a panel: LASOLVE_BLOCK_SIZE, else what an ILAENV of the program itself says of a routine such as "GETRF"; 0: neither.
std::int64_t block_size_of(const char* routine, bool is_double, std::int64_t m, std::int64_t n);

/// A function that the program or one of its libraries has, but not this one, which `caller`, an address in the code of one of them, would
/// call. Null: there is none. It stays loaded.
void* function_of_others(const char* name, const void* caller);

}  // namespace lasolve::lapack
