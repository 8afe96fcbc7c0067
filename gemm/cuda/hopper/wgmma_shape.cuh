// How the kernel of wgmma_kernel.cuh is cut: what it is given, what a block shares, and which tiles and pieces of C are whose.
#pragma once

#include "gemm/cuda/common/tile.cuh"
#include "gemm/cuda/hopper/instructions.cuh"

namespace lasolve::sm90 {

using namespace hopper;

constexpr int BM = 128;
constexpr int block_bytes = 64 * 128;  // of operands: 64 × BK
constexpr int piece_bytes = 2 * box_bytes;
constexpr int room = 226 << 10;  // in shared memory, beside barriers
constexpr int warpgroup = 128, consumers = 2;

/// turns: warpgroups have tiles in turns. broad: and tiles are wider, and two blocks share B. wide: so do they, and each warpgroup
/// has half of a still wider tile. split: each has half of a tile; operands are in two parts, as common/pack.cuh lays them out.
enum class Way { turns, broad, wide, split };

/// How a kernel is cut, all of it known when it is compiled.
template <class Half_, bool a_k_major_, bool b_k_major_, Way way>
struct CutAs {
  using Half = Half_;
  static constexpr bool a_k_major = a_k_major_, b_k_major = b_k_major_;
  static constexpr bool tf32 = std::is_same_v<Half, float>;
  static constexpr bool through_registers =
      tf32 && !a_k_major;  ///< A, of which shared memory feeds only what is K-major
  static constexpr bool turns = way == Way::turns || way == Way::broad, split = way == Way::split;
  static constexpr int BN = way == Way::wide ? 256 : way == Way::broad ? 192 : 128, BK = 128 / sizeof(Half);
  static constexpr int stages = way == Way::wide ? 3 : way == Way::turns && !tf32 ? 5 : 4;
  static constexpr int slots = (room - stages * (BM + BN) * 128) / (consumers * piece_bytes);
  static_assert(slots > 1, "a slot is free when the one behind it is taken away");
  static constexpr int cluster = BN > 128 ? 2 : 1;           ///< blocks, whose tiles are below one another
  static constexpr int blocks = (BM + BN) / 64;              ///< of operands, in a stage
  static constexpr bool drains = tf32 && way == Way::turns;  ///< a stage is given back before the next has come
  static constexpr int halves = turns ? 2 : 1;               ///< of a tile, that a warpgroup has
  static constexpr int pieces = halves * BN / 32;            ///< of C, that a warpgroup has of a tile
  static constexpr int updaters = through_registers ? warpgroup / halves : warpgroup;  ///< threads that update a piece
  static_assert(!through_registers || way == Way::wide || way == Way::turns);
};

struct Arguments {
  CUtensorMap A, B, C;
  const char *packed_a, *packed_b;  ///< of tf32, where not null: instead of A and B
  MatrixView<float, Cuda> c;
  bool c_boxes;    ///< the copy engine can reach C
  int steps;       ///< of BK
  unsigned strip;  ///< tile rows in a strip
  float alpha, beta;
  const float *row_roots, *col_roots;  ///< of split operands: element (i, j) is still to be multiplied by the squares
};

template <class Cut>
struct Shared {
  char operands[Cut::stages][Cut::blocks][block_bytes];  // A: 2 blocks, then B
  char pieces[consumers][Cut::slots][2][box_bytes];      // C: 2 boxes of (32 columns, 32 rows)
  Barrier full[Cut::stages], empty[Cut::stages];
  Barrier turn[consumers];  // the other warpgroup has all operands of its tile
  Barrier c_here[consumers][Cut::slots], c_ready[consumers][Cut::slots];
};

/// The tiles of this block, one after another: down a strip of a few tile rows, then along it, so that those that run
/// together share operands in L2.
template <class Cut>
struct Tiles {
  int i, j;  ///< of the first element

  /// Each `every`-th, from `first` on.
  __device__ Tiles(const Arguments& p, int first, int every)
      : down_(unsigned((p.c.rows() + Cut::cluster * BM - 1) / (Cut::cluster * BM))),
        across_(unsigned((p.c.cols() + Cut::BN - 1) / Cut::BN)),
        strip_(p.strip),
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
    const unsigned first = at_ / (strip_ * across_) * strip_, within = at_ % (strip_ * across_);
    const unsigned height = first < down_ ? min(strip_, down_ - first) : strip_;
    i = int((first + within % height) * Cut::cluster + rank_) * BM;
    j = int(within / height * Cut::BN);
  }
  unsigned down_, across_, strip_, at_, step_, rank_ = Cut::cluster > 1 ? block_in_cluster() : 0;
};

/// The pieces of C that a warpgroup updates, in turns.
template <class Cut>
struct Pieces {
  Tiles<Cut> tile;
  int group, number = 0;
  Ring slot = {};

  __device__ Pieces(const Arguments& p, int group)
      : tile(p, Cut::turns ? group : 0, Cut::turns ? 2 : 1), group(group) {}
  __device__ int i() const { return tile.i + 64 * (Cut::turns ? number % 2 : group); }
  __device__ int j() const { return tile.j + number / Cut::halves * 32; }
  __device__ bool done() const { return tile.done(); }
  __device__ void advance() {
    slot.advance(Cut::slots);
    if (++number == Cut::pieces) number = 0, tile.advance();
  }
};

/// Which rows of A and of sums a thread of a warpgroup has where A goes through registers: pairs of neighbours, which it loads at
/// once, shared out such that lanes that load together, of A or of C, meet in no bank. A warp has all rows of a box of 32, in two
/// halves of a tile, or half of them.
template <class Cut>
struct RowPairs {
  int lane, warp;

  /// The box, from that of the warpgroup's first row on.
  __device__ int box() const { return Cut::turns ? warp : warp / 2; }
  /// In it, the first row of the pair, of the first half.
  __device__ int first() const {
    const int four = 5 * (lane / 8 % 2) ^ lane / 16 ^ (Cut::turns ? 0 : 2 * (warp % 2));
    return 4 * four + lane / 4 % 2 * 2;
  }
  /// The address in a half of a tile of what is at `address` in the first: 8 rows further or back, see in_box.
  __device__ static unsigned of_half(int half, unsigned address) { return address ^ unsigned(32 * half); }
};

}  // namespace lasolve::sm90
