// What a device can do at most.
#pragma once

#include <algorithm>

#include "bench/operands.hpp"
#include "core/choose.hpp"

namespace lasolve::bench {

/// What limits are measured with.
template <class Space>
struct LargeEnough;
template <>
struct LargeEnough<Cuda> {
  static constexpr std::int64_t product = 8192, copied_bytes = 1 << 30;
};
template <>
struct LargeEnough<Cpu> {
  static constexpr std::int64_t product = 2048, copied_bytes = 128 << 20;
};

/// One copy within the memory of a device.
inline double seconds_of_copy(Queue<Cuda>& q, Matrix<char, Cuda>& to, const Matrix<char, Cuda>& from) {
  q.phase(Phase::other);
  copy_within(q, to.data(), from.data(), from.bytes());
  q.finish();
  return q.take_times().seconds_of(Phase::other);
}
double seconds_of_copy(Queue<Cpu>& q, Matrix<char>& to, const Matrix<char>& from);
inline void fill(Queue<Cuda>& q, Matrix<char, Cuda>& memory) { fill_zero(q, memory.data(), memory.bytes()); }
void fill(Queue<Cpu>& q, Matrix<char>& memory);

/// The least seconds of five runs, behind one that is not counted; of two or more, where these take half a second.
template <class Run>
double least_seconds(Run run) {
  run();
  double least = run(), spent = least;
  for (int runs = 1; runs < 2 || (runs < 5 && spent < 0.5); ++runs) {
    const double s = run();
    least = std::min(least, s);
    spent += s;
  }
  return least;
}

/// The best of a kernel at a large square product, and of a copy, reads and writes counted.
template <Precision P, class Space>
Roof measure_roof(Queue<Space>& q, const Queue<Cpu>& host, const GemmKernel<P, Space>& kernel) {
  using Large = LargeEnough<Space>;
  const Product large = square(Large::product);
  double product = 0;
  {
    Flush flush;
    Operands<P, Space> there(q, random_operands<P>(host, large), large);
    product = least_seconds([&] { return seconds_in_place(q, flush, kernel, large, there); });
  }
  constexpr std::int64_t columns = 64;
  Matrix<char, Space> from(Large::copied_bytes / columns, columns), to(Large::copied_bytes / columns, columns);
  fill(q, from);
  const double copy = least_seconds([&] { return seconds_of_copy(q, to, from); });
  return {large.flops() / product, 2.0 * double(Large::copied_bytes) / copy};
}

/// That of a device with the backend that is chosen there by default, for products in a precision; nothing where it does not offer
/// them. Throws OutOfMemory or std::bad_alloc where there is no room: for half a GiB on the CPU, and for some 3 GiB on CUDA.
std::optional<Roof> roof_of(Device, Precision products, int threads);

}  // namespace lasolve::bench
