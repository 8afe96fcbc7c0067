// What a device is best at, as one value: every size at which something else is done, and how wide block columns are. Those of one
// GEMM kernel stand in its file.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lasolve {
inline namespace LASOLVE_ABI {

struct Device;

/// A size that no matrix has.
inline constexpr std::int64_t never = std::int64_t(1) << 40;

/// Columns by the order n of a matrix: columns[i] where n is at least from[i − 1] and below from[i].
struct ColumnsBySize {
  std::int64_t columns[4];
  std::int64_t from[3];

  constexpr std::int64_t operator()(std::int64_t n) const {
    return columns[n < from[0] ? 0 : n < from[1] ? 1 : n < from[2] ? 2 : 3];
  }
  bool operator==(const ColumnsBySize&) const = default;
};

/// A size at which one GEMM kernel does something else: a constant in the file of the kernel, whose record lists it.
struct Threshold {
  const char* name;
  std::int64_t value;
  const char* unit;
  const char* decides;     ///< one line
  std::int64_t least = 1;  ///< that it can be; at most it is `never`
  /// Families of devices on which it was measured to be another, see Tuning::family, and what it is there.
  std::span<const std::pair<std::string_view, std::int64_t>> elsewhere = {};
};

/// One value for each choice that depends on a size. What each decides, and in which unit, is said once, in tuning_fields(). The
/// tables are in src/core/tuning.cpp.
struct Tuning {
  std::string_view family = {};  ///< of devices
  // the schedules
  std::int64_t cholesky_goes_left;
  ColumnsBySize lu, lu_left, cholesky, cholesky_left, cholesky_left_fp32;
  // LU
  std::int64_t lu_panels_are_the_bottleneck, lu_step, lu_widest_panel, lu_first_panel_fp64, lu_first_panel_from,
      lu_hidden_panels_of_first, lu_panel_multiprocessors, lu_tournament_rows, lu_soon_columns,
      lu_interchange_L_late_from, lu_far_columns_fp64, lu_far_columns_fp32, lu_far_from, lu_leaf, lu_leaf_elements;
  // Cholesky
  std::int64_t cholesky_panel_least, cholesky_panel_part, cholesky_phases_from, cholesky_leaf,
      cholesky_leaf_multiprocessors, cholesky_product_binds, cholesky_rows_apart_fp32, cholesky_work_apart_fp32,
      cholesky_narrow_columns, cholesky_narrow_work_fp64, cholesky_narrow_fp32_per_fp64, cholesky_left_wide,
      cholesky_left_beside, cholesky_diagonal_update, symmetric_update;
  // triangular solves, and the look-ahead update of LU
  std::int64_t solve_few_rhs, solve_sync_free_rhs, solve_halves_from, solve_order, lookahead_64_rows_from,
      lookahead_128_rows_from;
  // work of a device
  std::int64_t arriving_bytes, waited_copy_bytes, work_worth_sharing, small_system_order, small_cholesky_order,
      cholesky_tried_order, one_kernel_checks_order, refined_from;
  // products
  std::int64_t cublas_even_rows_work;
  std::vector<std::pair<const Threshold*, std::int64_t>> of_kernels = {};  // those that were set

  /// The value of a threshold of a kernel.
  std::int64_t operator[](const Threshold& t) const {
    for (const auto& [threshold, value] : of_kernels)
      if (threshold == &t) return value;
    for (const auto& [other, value] : t.elsewhere)
      if (other == family) return value;
    return t.value;
  }
  /// The same, to be set.
  std::int64_t& operator[](const Threshold& t) {
    for (auto& [threshold, value] : of_kernels)
      if (threshold == &t) return value;
    return of_kernels.emplace_back(&t, std::as_const(*this)[t]).second;
  }
  bool operator==(const Tuning&) const = default;
};

/// A value of a Tuning.
struct TuningField {
  std::string name;
  const char* unit;
  std::string decides;  ///< one line
  int device;           ///< Device::cpu or Device::cuda, where only that has it; else Device::automatic
  std::int64_t least;   ///< that it can be; at most it is `never`
  std::function<std::int64_t&(Tuning&)> of;

  std::int64_t in(Tuning tuning) const { return of(tuning); }
};

/// All of them, in their order; at last those of the kernels in the table of backends.
std::span<const TuningField> tuning_fields();

/// Sets a field by its name. Throws std::invalid_argument for a name that there is none of, and says which is the nearest, and for a
/// value that it cannot have.
void tune(Tuning&, const std::string& name, std::int64_t value);

/// Why no device works with such values; empty: one may.
std::string complaint_about(const Tuning&);

/// The table of a device, as it is where Options::tuning is not set. Device{} is the CPU here. Throws MachineError when there is no
/// such device.
Tuning tuning_of(const Device&);

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
