// tensor: which variant a product takes, from its sizes and the tuning of the device. No CUDA is needed to read it.
#pragma once

#include "core/ceil_div.hpp"
#include "core/tuning.hpp"

namespace lasolve {

LASOLVE_THRESHOLD(tensor_multicast_from, 4096, "k", "the least where two blocks share what they read");
LASOLVE_THRESHOLD(tensor_groups_of_128_bytes, 512, "bytes of k",
                  "the most where tiles follow one another down whole columns", 0);
LASOLVE_THRESHOLD(tensor_groups_of_32_bytes, 2048, "bytes of k",
                  "the most where they do so 32 at a time, and beyond 16", 0);

/// How many rows of tiles follow one another before the next column. At small k, here in bytes, the traffic of C rules, and memory likes
/// it best down whole columns; else L2 is to hold the operands.
inline unsigned group_rows_for(const Tuning& t, std::int64_t k_bytes) {
  return k_bytes <= t[tensor_groups_of_128_bytes] ? 128 : k_bytes <= t[tensor_groups_of_32_bytes] ? 32 : 16;
}

LASOLVE_THRESHOLD(tensor_tf32_wide_from, 257, "k", "the least where tiles of tensor in tf32 may be 192 columns wide");
LASOLVE_THRESHOLD(tensor_tf32_wide_percent, 110, "%", "of the time of narrow tiles that they may take");

/// Whether tiles in tf32 are 192 columns wide, by the time that these take, and narrow ones.
inline bool takes_wide_tiles(const Tuning& t, std::int64_t k, std::int64_t broad, std::int64_t narrow) {
  return k >= t[tensor_tf32_wide_from] && 100 * broad <= t[tensor_tf32_wide_percent] * narrow;
}

LASOLVE_THRESHOLD(tensor_split_least_steps, 64, "steps", "of 16 of k, the least of a tile that blocks share");
LASOLVE_THRESHOLD(tensor_split_least_work, 60, "steps",
                  "for each multiprocessor, the least of a product in which they do");
LASOLVE_THRESHOLD(tensor_split_few_tiles, 5, "multiprocessors", "for each tile with which they do, whatever the work");
LASOLVE_THRESHOLD(tensor_split_steps_of_end, 6, "steps", "that each block costs at the begin and the end", 0);

/// How many blocks share the steps of a tile in fp64, where tiles are few and their steps many: what keeps the multiprocessors busy for
/// the shortest time. Two blocks side by side on one take 3/2 of the time of one alone.
inline int blocks_of_a_tile(const Tuning& t, std::int64_t tiles, int steps, int multiprocessors) {
  const std::int64_t least = t[tensor_split_least_steps];
  const bool few_and_long = tiles * t[tensor_split_few_tiles] <= multiprocessors && steps >= 2 * least;
  const bool enough =
      steps >= least && tiles <= multiprocessors && tiles * steps >= t[tensor_split_least_work] * multiprocessors;
  if (!few_and_long && !enough) return 1;
  const auto cost = [&](int blocks) {
    const std::int64_t most = ceil_div(tiles * blocks, multiprocessors);
    return (most / 2 * 3 + most % 2 * 2) * (steps + t[tensor_split_steps_of_end] * blocks) / blocks;
  };
  int best = 2;
  for (const int blocks : {4, 8})
    if (steps >= 16 * blocks && cost(blocks) < cost(best)) best = blocks;
  return best;
}

/// Tiles in fp64 that one block has.
enum class Fp64Tiles { tiny, narrow, small, wide, large };

LASOLVE_THRESHOLD(tensor_large_steps, 64, "steps", "the least for tiles of 128 rows");
LASOLVE_THRESHOLD(tensor_large_tiles, 4, "tiles", "for each multiprocessor, the least for them");
LASOLVE_THRESHOLD(tensor_wide_steps, 256, "steps", "for each multiprocessor, the least for tiles of 128 columns");
LASOLVE_THRESHOLD(tensor_tiny_tiles_percent, 200, "%", "of the multiprocessors: the most of the smallest tiles", 0);
LASOLVE_THRESHOLD(tensor_narrow_tiles_percent, 150, "%",
                  "of the multiprocessors: the most tiles of 64 columns before they are halved", 0);

/// `tiles(BM, BN)`: how many such tiles C has.
template <class Count>
Fp64Tiles fp64_tiles(const Tuning& t, const Count& tiles, std::int64_t steps, std::int64_t multiprocessors) {
  if (100 * tiles(32, 32) <= t[tensor_tiny_tiles_percent] * multiprocessors) return Fp64Tiles::tiny;
  if (100 * tiles(64, 64) <= t[tensor_narrow_tiles_percent] * multiprocessors) return Fp64Tiles::narrow;
  if (steps >= t[tensor_large_steps] && tiles(128, 128) >= t[tensor_large_tiles] * multiprocessors)
    return Fp64Tiles::large;
  return tiles(64, 128) * steps >= t[tensor_wide_steps] * multiprocessors ? Fp64Tiles::wide : Fp64Tiles::small;
}

inline constexpr const Threshold* tensor_thresholds[] = {
    &tensor_multicast_from,     &tensor_groups_of_128_bytes, &tensor_groups_of_32_bytes, &tensor_tf32_wide_from,
    &tensor_tf32_wide_percent,  &tensor_split_least_steps,   &tensor_split_least_work,   &tensor_split_few_tiles,
    &tensor_split_steps_of_end, &tensor_large_steps,         &tensor_large_tiles,        &tensor_wide_steps,
    &tensor_tiny_tiles_percent, &tensor_narrow_tiles_percent};

}  // namespace lasolve
