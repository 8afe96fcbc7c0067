// tensor, f64: which shape a product takes.
#pragma once

#include "gemm/cuda/hopper/fp64_split_k.cuh"

namespace lasolve::tensor_f64 {

/// Large is for products of many steps, in which the bytes of operands count; Wide for others that are long work; Small
/// for shorter ones; Narrow and Tiny for those of few tiles, and of fewer still. Copied is for those that the copy
/// engine cannot reach.
using Large = Shape<Tiling{.warps_m = 2, .warps_n = 4, .MT = 4, .NT = 4, .per_sm = 1, .rounds = 8, .group = 12}>;
using Wide = Shape<Tiling{.warps_m = 1, .warps_n = 4, .MT = 4, .NT = 4, .per_sm = 2, .rounds = 4, .most_steps = 128}>;
using Small = Shape<Tiling{.warps_m = 2, .warps_n = 2, .MT = 2, .NT = 4, .per_sm = 3}>;
using Narrow = Shape<Tiling{.warps_m = 2, .warps_n = 2, .MT = 2, .NT = 2, .per_sm = 3}>;
using Tiny = Shape<Tiling{.warps_m = 2, .warps_n = 2, .MT = 1, .NT = 2, .per_sm = 3}>;
using Copied = Shape<Tiling{.warps_m = 2, .warps_n = 2, .MT = 2, .NT = 4, .per_sm = 2, .uses_tma = false}>;

/// How many blocks share the steps of a tile, where tiles are few and their steps many: what keeps the multiprocessors
/// busy for the shortest time. Two blocks side by side on one take 3/2 of the time of one alone.
inline int blocks_of_a_tile(std::int64_t tiles, int steps, int multiprocessors) {
  constexpr int least_steps = 64,
                least_work = 60;  // of a tile, of a multiprocessor; with less, other shapes are as fast
  const bool few_and_long = tiles * 5 <= multiprocessors && steps >= 2 * least_steps;
  const bool enough = steps >= least_steps && tiles <= multiprocessors && tiles * steps >= least_work * multiprocessors;
  if (!few_and_long && !enough) return 1;
  constexpr int begin_and_end = 6;  // in steps
  const auto cost = [&](int blocks) {
    const std::int64_t most = ceil_div(tiles * blocks, multiprocessors);
    return (most / 2 * 3 + most % 2 * 2) * (steps + begin_and_end * blocks) / blocks;
  };
  int best = 2;
  for (const int blocks : {4, 8})
    if (steps >= 16 * blocks && cost(blocks) < cost(best)) best = blocks;
  return best;
}

/// C ← α·A·B + β·C.
inline void gemm(Queue<Cuda>& q, double alpha, Operand<double, Cuda> A, Operand<double, Cuda> B, double beta,
                 MatrixView<double, Cuda> C) {
  require_hopper(q.device());
  require(std::max({C.rows(), C.cols(), A.cols()}) < (std::int64_t(1) << 31) - 256,
          "a side of the product does not fit the copy engine's 31 bits");
  Work w{};
  w.A = A.stored(), w.B = B.stored(), w.C = C, w.alpha = alpha, w.beta = beta;
  w.steps = int(ceil_div(A.cols(), BK));
  const auto tiles = [&](int BM, int BN) { return ceil_div(C.rows(), BM) * ceil_div(C.cols(), BN); };
  constexpr int many_steps = 256, many_large = 4;  // for a multiprocessor
  const bool large = w.steps >= 64 && tiles(Large::BM, Large::BN) >= many_large * q.multiprocessors();
  const bool fetchable = w.A.fetchable() && w.B.fetchable() && reachable(C.data(), C.ld());
  w.blocks_of_a_tile =
      !fetchable || C.cols() < Wide::BN ? 1 : blocks_of_a_tile(tiles(Wide::BM, Wide::BN), w.steps, q.multiprocessors());
  w.blocks_of_a_tile = blocks_in_a_cluster<Wide>(q, A.op(), B.op(), w.blocks_of_a_tile);
  const auto f = !fetchable                                                                ? run<Copied>
                 : w.blocks_of_a_tile > 1                                                  ? run_split<Wide>
                 : tiles(Tiny::BM, Tiny::BN) <= 2 * q.multiprocessors()                    ? run<Tiny>
                 : tiles(Small::BM, Small::BN) * 2 <= 3 * q.multiprocessors()              ? run<Narrow>
                 : large                                                                   ? run<Large>
                 : tiles(Wide::BM, Wide::BN) * w.steps >= many_steps * q.multiprocessors() ? run<Wide>
                                                                                           : run<Small>;
  f(q, A.op(), B.op(), w);
}

}  // namespace lasolve::tensor_f64
