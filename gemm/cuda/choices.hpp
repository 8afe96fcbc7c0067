// Which variant of a kernel a product takes, from its sizes and the tuning of the device. No CUDA is needed to read it.
#pragma once

#include <cstdint>

#include "core/ceil_div.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {

/// How many rows of tiles of tensor's follow one another before the next column. At small k, here in bytes, the traffic of C rules,
/// and memory likes it best down whole columns; else L2 is to hold the operands.
inline unsigned group_rows_for(const Tuning& t, std::int64_t k_bytes) {
  return k_bytes <= t.tensor_groups_of_128_bytes ? 128 : k_bytes <= t.tensor_groups_of_32_bytes ? 32 : 16;
}

/// Whether tiles of tensor's in tf32 are 192 columns wide, by the time that these take, and narrow ones.
inline bool takes_wide_tiles(const Tuning& t, std::int64_t k, std::int64_t broad, std::int64_t narrow) {
  return k >= t.tensor_tf32_wide_from && 100 * broad <= t.tensor_tf32_wide_percent * narrow;
}

/// How many blocks share the steps of a tile of tensor's in fp64, where tiles are few and their steps many: what keeps the
/// multiprocessors busy for the shortest time. Two blocks side by side on one take 3/2 of the time of one alone.
inline int blocks_of_a_tile(const Tuning& t, std::int64_t tiles, int steps, int multiprocessors) {
  const std::int64_t least = t.tensor_split_least_steps;
  const bool few_and_long = tiles * t.tensor_split_few_tiles <= multiprocessors && steps >= 2 * least;
  const bool enough =
      steps >= least && tiles <= multiprocessors && tiles * steps >= t.tensor_split_least_work * multiprocessors;
  if (!few_and_long && !enough) return 1;
  const auto cost = [&](int blocks) {
    const std::int64_t most = ceil_div(tiles * blocks, multiprocessors);
    return (most / 2 * 3 + most % 2 * 2) * (steps + t.tensor_split_steps_of_end * blocks) / blocks;
  };
  int best = 2;
  for (const int blocks : {4, 8})
    if (steps >= 16 * blocks && cost(blocks) < cost(best)) best = blocks;
  return best;
}

/// Tiles of tensor's in fp64 that one block has.
enum class Fp64Tiles { tiny, narrow, small, wide, large };

/// `tiles(BM, BN)`: how many such tiles C has.
template <class Count>
Fp64Tiles fp64_tiles(const Tuning& t, const Count& tiles, std::int64_t steps, std::int64_t multiprocessors) {
  if (100 * tiles(32, 32) <= t.tensor_tiny_tiles_percent * multiprocessors) return Fp64Tiles::tiny;
  if (100 * tiles(64, 64) <= t.tensor_narrow_tiles_percent * multiprocessors) return Fp64Tiles::narrow;
  if (steps >= t.tensor_large_steps && tiles(128, 128) >= t.tensor_large_tiles * multiprocessors)
    return Fp64Tiles::large;
  return tiles(64, 128) * steps >= t.tensor_wide_steps * multiprocessors ? Fp64Tiles::wide : Fp64Tiles::small;
}

/// How cuBLAS multiplies C ← α·A·Bᵀ + β·C with few columns in fp32, beside work that is waited for sooner.
enum class NarrowProduct { as_it_chooses, in_parts, with_split_k };
inline NarrowProduct narrow_product_for(const Tuning& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  const double work = double(m) * double(n) * double(k);
  const std::int64_t least = t.cublas_narrow_least;
  const bool narrow = n % 128 == 0 && n >= least && n <= t.cublas_narrow_most && m >= least && k >= least;
  if (!narrow || work < double(t.cublas_narrow_work)) return NarrowProduct::as_it_chooses;
  if (work < double(t.cublas_split_k_work)) return NarrowProduct::in_parts;
  return m >= t.cublas_split_k_rows && k >= t.cublas_split_k_depth ? NarrowProduct::with_split_k
                                                                   : NarrowProduct::as_it_chooses;
}

/// Whether C ← α·A·B + β·C in fp32 is worth a transposed copy of B, beside work that is waited for sooner.
inline bool turns_B(const Tuning& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  return m >= t.cublas_transpose_rows && n >= t.cublas_transpose_columns && k >= t.cublas_transpose_depth &&
         k <= t.cublas_transpose_depth_most;
}

}  // namespace lasolve
