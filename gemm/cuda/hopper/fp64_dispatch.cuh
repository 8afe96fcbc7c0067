// tensor, f64: which shape a product takes.
#pragma once

#include "gemm/cuda/hopper/fp64_split_k.cuh"
#include "gemm/cuda/tensor_choices.hpp"

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
static_assert(Tiny::BM == 32 && Tiny::BN == 32 && Small::BM == 64 && Small::BN == 64);  // as fp64_tiles says
static_assert(Wide::BM == 64 && Wide::BN == 128 && Large::BM == 128 && Large::BN == 128);

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
  const bool fetchable = w.A.fetchable() && w.B.fetchable() && reachable(C.data(), C.ld());
  w.blocks_of_a_tile = !fetchable || C.cols() < Wide::BN
                           ? 1
                           : blocks_of_a_tile(q.tuning(), tiles(Wide::BM, Wide::BN), w.steps, q.multiprocessors());
  w.blocks_of_a_tile = blocks_in_a_cluster<Wide>(q, A.op(), B.op(), w.blocks_of_a_tile);
  const Fp64Tiles shape = fp64_tiles(q.tuning(), tiles, w.steps, q.multiprocessors());
  const auto f = !fetchable                   ? run<Copied>
                 : w.blocks_of_a_tile > 1     ? run_split<Wide>
                 : shape == Fp64Tiles::tiny   ? run<Tiny>
                 : shape == Fp64Tiles::narrow ? run<Narrow>
                 : shape == Fp64Tiles::large  ? run<Large>
                 : shape == Fp64Tiles::wide   ? run<Wide>
                                              : run<Small>;
  f(q, A.op(), B.op(), w);
}

}  // namespace lasolve::tensor_f64
