// Tiles of fp64 operands and of C in shared memory: how they lie there, and how they get there where the copy engine
// cannot bring them.
//
// A box is `outer` columns of `groups` times 16 doubles, and lies there as [groups][outer][16]: lines of 128 bytes. The
// eight pieces of 16 bytes of a line are permuted by its number: piece p is at p ^ line % 8, as TMA does it. So pieces
// of neighbouring lines are in different banks. Elements outside of the matrix become 0.
#pragma once

#include "core/cuda/copy_async.cuh"
#include "gemm/cuda/hopper/instructions.cuh"
#include "lasolve/gemm.hpp"

namespace lasolve::tensor_f64 {

using namespace hopper;

constexpr int line_doubles = 16, line_bytes = 128;

/// Slots of shared memory in a ring, each with a full and an empty barrier.
template <class S>
struct Slots {
  static constexpr std::size_t bytes_of_each = S::slot_bytes + 2 * sizeof(Barrier);
  unsigned memory;
  Barrier *full, *empty;

  __device__ unsigned at(const Ring& ring) const { return memory + ring.at * S::slot_bytes; }
};

/// Those of this block, w.slots; by all of its threads.
template <class S, class Work>
__device__ Slots<S> open_slots(const Work& w) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Barrier* const full = reinterpret_cast<Barrier*>(shared + std::size_t(w.slots) * S::slot_bytes);
  Barrier* const empty = full + w.slots;
  if (threadIdx.x == 0) {
    for (int s = 0; s < w.slots; ++s) full[s].init(S::producers), empty[s].init(S::consumers);
    fence_barrier_inits();
  }
  __syncthreads();
  return {shared_address(shared), full, empty};
}

/// A matrix to bring boxes from, in memory.
struct BoxSource {
  const double* data;
  std::int64_t ld, rows, cols;

  BoxSource() = default;
  BoxSource(MatrixView<const double, Cuda> X) : data(X.data()), ld(X.ld()), rows(X.rows()), cols(X.cols()) {}
  __device__ BoxSource(MatrixView<double, Cuda> X) : data(X.data()), ld(X.ld()), rows(X.rows()), cols(X.cols()) {}

  /// Whether the copy engine can read it; of an empty matrix nothing is read.
  bool fetchable() const { return rows == 0 || cols == 0 || reachable(data, ld); }
  /// In boxes of 16 rows and `outer` columns.
  CUtensorMap map(int outer) const {
    return tensor_map(data, rows, cols, ld, line_doubles, unsigned(outer), CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  }
};

/// Where piece p of a line of a box is, two doubles.
__device__ inline unsigned piece_address(unsigned box, int line, int p) {
  return box + unsigned(line) * line_bytes + (unsigned(p ^ (line & 7)) << 4);
}
__device__ inline double2 load_piece(unsigned from) {
  double2 v;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "r"(from));
  return v;
}
__device__ inline void store_piece(unsigned to, double2 v) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(v.x), "d"(v.y) : "memory");
}
__device__ inline double2 piece(unsigned box, int line, int p) { return load_piece(piece_address(box, line, p)); }
/// Double d of a line of a box.
__device__ inline double element(unsigned box, int line, int d) {
  double v;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(piece_address(box, line, d / 2) + unsigned(d % 2 * 8)));
  return v;
}

/// One lane has the copy engine bring the box whose first element is (i, j).
__device__ inline void fetch_box(const CUtensorMap& X, std::int64_t i, std::int64_t j, int groups, int outer,
                                 unsigned to, Barrier& arrived) {
  for (int g = 0; g < groups; ++g)
    load_box(to + unsigned(g * outer) * line_bytes, X, int(i) + g * line_doubles, int(j), arrived);
}
/// One lane has it take a box back: what is inside of the matrix.
__device__ inline void send_box(const CUtensorMap& X, std::int64_t i, std::int64_t j, int groups, int outer,
                                unsigned from) {
  for (int g = 0; g < groups; ++g)
    store_box(X, int(i) + g * line_doubles, int(j), from + unsigned(g * outer) * line_bytes);
  commit_stores();
}

/// The last `threads` of the block copy the box whose first element is (i, j), one double at a time, from any address.
template <int threads>
__device__ void copy_box(const BoxSource& X, std::int64_t i, std::int64_t j, int groups, int outer, unsigned to) {
  const int lane = threadIdx.x % threads, x = lane % line_doubles;
#pragma unroll 1
  for (int g = 0; g < groups; ++g) {
    const std::int64_t row = i + g * line_doubles + x;
#pragma unroll 4
    for (int o = lane / line_doubles; o < outer; o += threads / line_doubles) {
      const bool exists = row < X.rows && j + o < X.cols;
      copy_async<8>(piece_address(to, g * outer + o, x / 2) + x % 2 * 8,
                    exists ? X.data + row + (j + o) * X.ld : X.data, exists ? 8 : 0);
    }
  }
}

}  // namespace lasolve::tensor_f64
