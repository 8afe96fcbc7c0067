// Candidates for the pivot: how they compare, which is the best of a warp or of a block, and the reciprocal of the
// pivot.
#pragma once

#include <climits>

#include "core/cuda/shared_memory.cuh"
#include "solvers/devices/cuda/reciprocal.cuh"

namespace lasolve {

constexpr unsigned all_lanes = ~0u;

/// Whether the reciprocal of a pivot could overflow or be subnormal. Then the pivot and its column are multiplied by
/// scale_for it first.
__device__ inline bool is_extreme(double pivot) { return unsigned((__double2hiint(pivot) >> 20 & 0x7ff) - 23) > 2000u; }
__device__ inline bool is_extreme(float pivot) { return unsigned((__float_as_int(pivot) >> 23 & 0xff) - 7) > 240u; }
__device__ inline double scale_for(double pivot) { return fabs(pivot) < 1 ? 0x1p600 : 0x1p-600; }
__device__ inline float scale_for(float pivot) { return fabs(pivot) < 1 ? 0x1p60f : 0x1p-60f; }
template <class T>
__device__ T extreme_reciprocal(T pivot) {
  return pivot == T(0) ? T(1) : fast_reciprocal(pivot * scale_for(pivot));
}

/// 16 bytes, read or written at once.
template <class T>
struct alignas(16) Chunk {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
};

/// A store that the compiler keeps apart. Merged with those of other branches, it would first select what to store.
/// Merged with its neighbours, it would take more moves than it saves stores.
__device__ inline void write_shared(double* to, double x) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(shared_address(to)), "d"(x) : "memory");
}
__device__ inline void write_shared(float* to, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(shared_address(to)), "f"(x) : "memory");
}

/// A number that orders as |a| does, with NaN above all. It is 0 for no row. Of others the upper half exceeds the last
/// bits, which the search replaces by the number of a lane or a block.
__device__ inline unsigned high_magnitude_of(double a) { return (unsigned(__double2hiint(a)) & 0x7fffffff) + 32; }
__device__ inline unsigned high_magnitude_of(float a) { return (__float_as_uint(a) & 0x7fffffff) + 32; }
__device__ inline std::uint64_t magnitude_of(double a) {
  return std::uint64_t(high_magnitude_of(a)) << 32 | unsigned(__double2loint(a));
}
__device__ inline std::uint64_t magnitude_of(float a) { return std::uint64_t(high_magnitude_of(a)) << 32; }

/// A row that could be the pivot row of a column. `row` is where it is. `position` is where it would be if the
/// interchanges so far had been made.
template <class T>
struct alignas(16) Candidate {
  static constexpr int no_row = INT_MAX;
  T value = 0;  // its entry in the column
  int position = no_row, row = 0;
  T behind = 0, l = 0;  // its entry in the column behind, which lacks the step before; its multiplier in that step
  T reciprocal = 0;     // of the value times scale_for it

  __device__ std::uint64_t magnitude() const { return position == no_row ? 0 : magnitude_of(value); }
  __device__ bool before(const Candidate& other) const {
    return magnitude() > other.magnitude() || (magnitude() == other.magnitude() && position < other.position);
  }
};

/// The lane with the best candidate of a warp; any lane where there is none. Of equals the first position wins, as in
/// LAPACK. Most often the upper halves decide. A warp without rows is quick too, because those with rows wait for it.
__device__ inline int best_lane(std::uint64_t magnitude, int position) {
  const auto high = unsigned(magnitude >> 32);
  const unsigned top = __reduce_max_sync(all_lanes, high);
  bool best = top == high;
  unsigned ballot = __ballot_sync(all_lanes, best);
  if (top > 0 && (ballot & (ballot - 1))) [[unlikely]] {
    const unsigned low = __reduce_max_sync(all_lanes, best ? unsigned(magnitude) : 0u);
    best = best && unsigned(magnitude) == low;
    const unsigned first = __reduce_min_sync(all_lanes, best ? unsigned(position) : ~0u);
    ballot = __ballot_sync(all_lanes, best && unsigned(position) == first);
  }
  return 31 - __clz(int(ballot));
}

/// The candidates of the threads of a block, and the upper halves of their magnitudes.
template <class T, int threads>
struct ThreadCandidates {
  static constexpr int each = threads / 32;
  unsigned high[threads];
  T value[threads], behind[threads], l[threads];
  int2 position_and_row[threads];  // position and row

  __device__ void put(const Candidate<T>& mine, std::uint64_t magnitude) {
    const unsigned i = threadIdx.x;
    high[i] = unsigned(magnitude >> 32), value[i] = mine.value, behind[i] = mine.behind, l[i] = mine.l;
    position_and_row[i] = {mine.position, mine.row};
  }
  __device__ Candidate<T> get(int i) const {
    Candidate<T> one;
    one.value = value[i], one.behind = behind[i], one.l = l[i], one.position = position_and_row[i].x,
    one.row = position_and_row[i].y;
    return one;
  }
  /// By a warp: the best of them. Upper halves are compared first, with the number of the lane as their last bits, so
  /// the best is known with its lane. Only where that does not decide, which is rare, the rest is looked at.
  template <bool with_reciprocal>
  __device__ Candidate<T> best() const {
    const unsigned lane = threadIdx.x % 32;
    unsigned all[each], most = 0;
    int at = int(lane), equals = 0;
#pragma unroll
    for (int i = 0; i < each; ++i) all[i] = high[32 * i + int(lane)];
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (all[i] > most) most = all[i], at = 32 * i + int(lane);
    const unsigned key = most / 32 * 32 + lane, top = __reduce_max_sync(all_lanes, key);
    Candidate<T> best = get(at);
#pragma unroll
    for (int i = 0; i < each; ++i) equals += all[i] == most;
    const bool same = key / 32 == top / 32;
    const unsigned ballot = __ballot_sync(all_lanes, same), more = __ballot_sync(all_lanes, same && equals > 1);
    int winner = int(top % 32);
    if (top >= 32 && (more | (ballot & (ballot - 1)))) [[unlikely]] {
#pragma unroll 1
      for (int i = at + 32; i < threads; i += 32)
        if (const Candidate<T> other = get(i); other.before(best)) best = other;
      winner = best_lane(best.magnitude(), best.position);
    }
    if constexpr (with_reciprocal)
      best.reciprocal = is_extreme(best.value) ? extreme_reciprocal(best.value) : fast_reciprocal(best.value);
    const auto from_winner = [&](auto& x) { x = __shfl_sync(all_lanes, x, winner); };
    from_winner(best.value), from_winner(best.behind), from_winner(best.l), from_winner(best.position);
    from_winner(best.row);
    if constexpr (with_reciprocal) from_winner(best.reciprocal);
    return best;
  }
};

/// The candidates of the warps of a block, and the upper halves of their magnitudes.
template <class T, int warps>
struct WarpCandidates {
  Candidate<T> candidates[warps];
  alignas(16) unsigned high[warps];

  /// By one lane of each warp.
  __device__ void put(const Candidate<T>& candidate, std::uint64_t magnitude) {
    candidates[threadIdx.x / 32] = candidate;
    high[threadIdx.x / 32] = unsigned(magnitude >> 32);
  }
  __device__ const Candidate<T>& best() const {
    unsigned all[warps], top = 0;
    int at = 0, equals = 0;
#pragma unroll
    for (int i = 0; i < warps; i += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(&high[i]);
      all[i] = four.x, all[i + 1] = four.y, all[i + 2] = four.z, all[i + 3] = four.w;
      top = max(top, max(max(four.x, four.y), max(four.z, four.w)));
    }
#pragma unroll
    for (int i = warps - 1; i >= 0; --i)
      if (all[i] == top) at = i, ++equals;
    if (equals > 1 && top > 0)
      for (int i = at + 1; i < warps; ++i) {
        const std::uint64_t mine = candidates[i].magnitude(), best = candidates[at].magnitude();
        if (mine > best || (mine == best && candidates[i].position < candidates[at].position)) at = i;
      }
    return candidates[at];
  }
};

}  // namespace lasolve
