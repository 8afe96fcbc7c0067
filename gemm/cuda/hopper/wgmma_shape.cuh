// The shape of the kernel of wgmma_kernel.cuh: its arguments, what a block shares, and which tiles and pieces of C are
// whose.
#pragma once

#include "gemm/cuda/common/raster_order.cuh"
#include "gemm/cuda/common/tile.cuh"
#include "gemm/cuda/hopper/instructions.cuh"

namespace lasolve::sm90 {

using namespace hopper;

constexpr int BM = 128;
constexpr int block_bytes = 64 * 128;  // of operands: 64 × BK
constexpr int piece_bytes = 2 * box_bytes;
constexpr int room = 226 << 10;  // in shared memory, beside barriers
constexpr int warpgroup = 128, consumers = 2;

/// How the warpgroups of a block share its tiles; CUTLASS has the same words.
/// pingpong: each has every other tile. pingpong_multicast: tiles are wider, and two blocks of a cluster share B.
/// cooperative_multicast: two blocks share B, and each warpgroup has half of a still wider tile.
/// cooperative_split: each has half of a tile; operands are in two parts, as common/split.cuh lays them out.
enum class KernelSchedule { pingpong, pingpong_multicast, cooperative_multicast, cooperative_split };

/// The shape of a kernel, all of it known when it is compiled. lower: of C, which is square, tiles above the diagonal are left out.
template <class Half_, bool a_k_major_, bool b_k_major_, KernelSchedule schedule, bool lower_ = false>
struct KernelShape {
  using Half = Half_;
  static constexpr bool lower = lower_;
  static constexpr bool a_k_major = a_k_major_, b_k_major = b_k_major_;
  static constexpr bool tf32 = std::is_same_v<Half, float>;
  static constexpr bool through_registers =
      tf32 && !a_k_major;  ///< A, of which shared memory feeds only what is K-major
  static constexpr bool pingpong =
                            schedule == KernelSchedule::pingpong || schedule == KernelSchedule::pingpong_multicast,
                        split = schedule == KernelSchedule::cooperative_split;
  static constexpr int BN = schedule == KernelSchedule::cooperative_multicast ? 256
                            : schedule == KernelSchedule::pingpong_multicast  ? 192
                                                                              : 128,
                       BK = 128 / sizeof(Half);
  static constexpr int stages = schedule == KernelSchedule::cooperative_multicast ? 3
                                : schedule == KernelSchedule::pingpong && !tf32   ? 5
                                                                                  : 4;
  static constexpr int slots = (room - stages * (BM + BN) * 128) / (consumers * piece_bytes);
  static_assert(slots > 1, "a slot is free when the one behind it is taken away");
  static constexpr int cluster = BN > 128 ? 2 : 1;  ///< blocks, whose tiles are below one another
  static constexpr int blocks = (BM + BN) / 64;     ///< of operands, in a stage
  static constexpr bool drains =
      tf32 && schedule == KernelSchedule::pingpong;  ///< a stage is given back before the next has come
  static constexpr int halves = pingpong ? 2 : 1;    ///< of a tile, that a warpgroup has
  static constexpr int pieces = halves * BN / 32;    ///< of C, that a warpgroup has of a tile
  static constexpr int updaters = through_registers ? warpgroup / halves : warpgroup;  ///< threads that update a piece
  static_assert(!lower || (BN == BM && cluster == 1));
  static_assert(!through_registers || schedule == KernelSchedule::cooperative_multicast ||
                schedule == KernelSchedule::pingpong);
};

struct Arguments {
  CUtensorMap A, B, C;
  const char *packed_a, *packed_b;  ///< of tf32, where not null: instead of A and B
  MatrixView<float, Cuda> c;
  bool c_boxes;         ///< the copy engine can reach C
  int steps;            ///< of BK
  unsigned group_rows;  ///< tile rows in a group
  float alpha, beta;
  const float *row_roots, *col_roots;  ///< of split operands: element (i, j) is still to be multiplied by the squares
};

template <class Shape>
struct Shared {
  char operands[Shape::stages][Shape::blocks][block_bytes];  // A: 2 blocks, then B
  char pieces[consumers][Shape::slots][2][box_bytes];        // C: 2 boxes of (32 columns, 32 rows)
  Barrier full[Shape::stages], empty[Shape::stages];
  Barrier turn[consumers];  // the other warpgroup has all operands of its tile
  Barrier c_here[consumers][Shape::slots], c_ready[consumers][Shape::slots];
};

/// The tiles of this block in raster order: down a group of a few tile rows, then along it. So those that run together
/// share operands in L2.
template <class Shape>
struct Tiles {
  int i, j;  ///< of the first element

  /// Each `every`-th, from `first` on.
  __device__ Tiles(const Arguments& p, int first, int every)
      : down_(unsigned((p.c.rows() + Shape::cluster * BM - 1) / (Shape::cluster * BM))),
        across_(unsigned((p.c.cols() + Shape::BN - 1) / Shape::BN)),
        group_rows_(p.group_rows),
        at_(blockIdx.y + first * gridDim.y),
        step_(every * gridDim.y) {
    place();
  }
  __device__ bool done() const { return at_ >= down_ * across_; }
  __device__ void advance() {
    at_ += step_;
    place();
  }

 private:
  __device__ void place() {
    i = int(row_in_raster_order<true>(at_, down_, across_, group_rows_) * Shape::cluster + rank_) * BM;
    j = int(column_in_raster_order<true>(at_, down_, across_, group_rows_) * Shape::BN);
  }
  unsigned down_, across_, group_rows_, at_, step_, rank_ = Shape::cluster > 1 ? block_in_cluster() : 0;
};

/// The same of the tiles on and below the diagonal: a group is as long as its last row.
template <class Shape>
requires(Shape::lower) struct Tiles<Shape> {
  int i, j;

  __device__ Tiles(const Arguments& p, int first, int every)
      : down_(unsigned((p.c.rows() + BM - 1) / BM)),
        rows_(min(p.group_rows, down_)),
        at_(blockIdx.y + first * gridDim.y),
        step_(every * gridDim.y) {
    place();
  }
  __device__ bool done() const { return first_ >= down_; }
  __device__ void advance() {
    at_ += step_;
    place();
  }

 private:
  __device__ void place() {
    for (;; at_ += step_) {
      while (!done() && at_ >= rows_ * (first_ + rows_)) {  // at_ is counted from the first tile of the group on
        at_ -= rows_ * (first_ + rows_), first_ += rows_;
        rows_ = min(rows_, down_ - first_);
      }
      const unsigned row = first_ + at_ % max(rows_, 1u), column = at_ / max(rows_, 1u);
      i = int(row) * BM, j = int(column) * BM;
      if (done() || column <= row) return;
    }
  }
  unsigned down_, rows_, at_, step_, first_ = 0;
};

/// The pieces of C that a warpgroup updates, one after the other.
template <class Shape>
struct Pieces {
  Tiles<Shape> tile;
  int group, number = 0;
  Ring slot = {};

  __device__ Pieces(const Arguments& p, int group)
      : tile(p, Shape::pingpong ? group : 0, Shape::pingpong ? 2 : 1), group(group) {}
  __device__ int i() const { return tile.i + 64 * (Shape::pingpong ? number % 2 : group); }
  __device__ int j() const { return tile.j + number / Shape::halves * 32; }
  __device__ bool done() const { return tile.done(); }
  __device__ void advance() {
    slot.advance(Shape::slots);
    if (++number == Shape::pieces) number = 0, tile.advance();
  }
};

/// Which rows of A and of sums a thread of a warpgroup has where A goes through registers: pairs of neighbours, which
/// it loads at once. They are shared out such that lanes that load together, of A or of C, meet in no bank. A warp has
/// all rows of a box of 32, in two halves of a tile, or half of them.
template <class Shape>
struct RowPairs {
  int lane, warp;

  /// The box, from that of the warpgroup's first row on.
  __device__ int box() const { return Shape::pingpong ? warp : warp / 2; }
  /// In it, the first row of the pair, of the first half.
  __device__ int first() const {
    const int four = 5 * (lane / 8 % 2) ^ lane / 16 ^ (Shape::pingpong ? 0 : 2 * (warp % 2));
    return 4 * four + lane / 4 % 2 * 2;
  }
  /// The address in a half of a tile of what is at `address` in the first: 8 rows further or back, see in_box.
  __device__ static unsigned of_half(int half, unsigned address) { return address ^ unsigned(32 * half); }
};

}  // namespace lasolve::sm90
