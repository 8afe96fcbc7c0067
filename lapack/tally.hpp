// What was caught: counted by the drop-in in memory that it shares with `lasolve run`, which shows it. So what forked children and
// processes that end at once have caught counts, too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "lapack/table.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::lapack {

#define LASOLVE_ROUTINE(name, ...) name,
enum class Routine : int { LASOLVE_LAPACK(LASOLVE_ROUTINE) LASOLVE_LAPACK_MIXED(LASOLVE_ROUTINE) count };
#undef LASOLVE_ROUTINE
#define LASOLVE_ROUTINE(name, ...) #name,
inline constexpr const char* names_of_routines[] = {LASOLVE_LAPACK(LASOLVE_ROUTINE)
                                                        LASOLVE_LAPACK_MIXED(LASOLVE_ROUTINE)};
#undef LASOLVE_ROUTINE

struct Tally {
  struct Row {
    std::atomic<std::int64_t> ours, passed;  ///< calls
    std::atomic<std::int64_t> largest;       ///< order of a system that was ours
    std::atomic<std::int64_t> nanoseconds;   ///< of those
  };
  std::array<std::array<Row, 2>, std::size_t(Routine::count)> rows;  ///< of float, and of double
  std::atomic<std::int64_t> products, products_of_device;            ///< of the backends
  std::int64_t crossover;
  char gemm[64], refused[256];
  char device[64], gemm_of_device[64];  ///< empty: none was used

  template <class Space>
  std::atomic<std::int64_t>& products_on() {
    return std::is_same_v<Space, Cpu> ? products : products_of_device;
  }
  Row& of(Routine routine, bool is_double) { return rows[std::size_t(routine)][is_double]; }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "counted by several processes");

/// The variable of the environment with the file that is shared. Without it a process counts for itself.
inline constexpr char tally_variable[] = "LASOLVE_TALLY";

Tally& tally();

}  // namespace lasolve::lapack
