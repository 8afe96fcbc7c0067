// The tables of tuning, one for each family of devices.
#pragma once

#include <span>

#include "core/device_properties.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {

/// The values of a family of devices, and where they were measured.
struct TuningTable {
  const char* measured;
  Tuning values;
};

/// That of the CPU, and then those of CUDA's families.
std::span<const TuningTable> tuning_tables();
const TuningTable& cpu_tuning();
/// By its compute capability, and of those that are alike by the shared memory of a block.
const TuningTable& tuning_for(const DeviceProperties&);

/// A threshold of a kernel, in a file that several may include.
#define LASOLVE_THRESHOLD(name, ...) \
  inline constexpr Threshold name { #name, __VA_ARGS__ }

/// Whether the last row of a product in fp64 is one of its own, so that the others are an even number.
inline bool cuts_off_last_row(const Tuning& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  return m > 1 && m % 2 != 0 && double(m) * double(n) * double(k) >= double(t.cublas_even_rows_work);
}

}  // namespace lasolve
