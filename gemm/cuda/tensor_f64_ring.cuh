// A ring of buffers in shared memory: one warp copies boxes of column-major matrices into it, the others use them up.
//
// A box is `outer` columns of `groups` times 16 doubles, and lies in the buffer as [groups][outer][16]: lines of 128 bytes,
// whose eight 16-byte pieces are permuted by the number of the line (piece p is at p ^ line % 8), so that pieces of
// neighbouring lines are in different banks. Elements outside of the matrix become 0. The copy engine (TMA) makes boxes
// where memory is aligned to 16 bytes; elsewhere the lanes of the warp do, in pieces of 16 bytes or 8.
#pragma once

#include <cuda.h>

#include "core/cuda/check.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::tensor_f64 {

constexpr int line_doubles = 16, line_bytes = 128;

__device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

/// Counts arrivals, and bytes of the copy engine; a phase ends when all have come.
class Barrier {
 public:
  __device__ void begin(unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&state_)), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(shared_address(&state_)) : "memory");
  }
  /// Arrives when all that this lane has begun to copy is there.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&state_)) : "memory");
  }
  __device__ void arrive_and_expect([[maybe_unused]] unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state_)), "r"(bytes)
                 : "memory");
#endif
  }
  /// Until the phase of this parity has ended.
  __device__ void wait(unsigned parity) {
    unsigned done = 0;
    while (!done)
#if __CUDA_ARCH__ >= 900
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
#else
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
#endif
                   : "=r"(done)
                   : "r"(shared_address(&state_)), "r"(parity)
                   : "memory");
  }
  __device__ unsigned address() const { return shared_address(&state_); }

 private:
  unsigned long long state_;
};

/// A place in the ring, and the parity of its round.
struct Cursor {
  int slot = 0;
  unsigned parity = 0;
  __device__ void next(int slots) {
    if (++slot == slots) slot = 0, parity ^= 1;
  }
};

/// A matrix to copy boxes from, in memory.
struct BoxSource {
  const double* data;
  std::int64_t ld, rows, cols;
};

/// The last `threads` of the block copy the box whose first element is (i, j) to `to`, in pieces of `doubles` (1 or 2).
template <int doubles, int threads>
__device__ void copy_box(const BoxSource& X, std::int64_t i, std::int64_t j, int groups, int outer, unsigned to) {
  constexpr int lanes = line_doubles / doubles;  // a line
  const int lane = threadIdx.x % threads, x = lane % lanes * doubles;
#pragma unroll 1
  for (int g = 0; g < groups; ++g) {
    const std::int64_t row = i + g * line_doubles + x;
    const std::int64_t inside = X.rows - row;  // how many of the piece are
    const int bytes = inside >= doubles ? 8 * doubles : inside > 0 ? 8 * int(inside) : 0;
#pragma unroll 2
    for (int o = lane / lanes; o < outer; o += threads / lanes) {
      const bool exists = bytes > 0 && j + o < X.cols;
      const double* from = exists ? X.data + row + (j + o) * X.ld : X.data;
      const unsigned piece = unsigned(x / 2 ^ (o & 7)) * 16 + x % 2 * 8;
      const unsigned there = to + unsigned(g * outer + o) * line_bytes + piece;
      if constexpr (doubles == 2)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(there), "l"(from), "r"(exists ? bytes : 0)
                     : "memory");
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(there), "l"(from), "r"(exists ? bytes : 0)
                     : "memory");
    }
  }
}

/// One lane has the copy engine bring the box whose first element is (i, j).
__device__ inline void fetch_box(const CUtensorMap& X, std::int64_t i, std::int64_t j, int groups, int outer,
                                 unsigned to, const Barrier& arrived) {
#if __CUDA_ARCH__ >= 900
  for (int g = 0; g < groups; ++g)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(to + unsigned(g * outer) * line_bytes),
        "l"(&X), "r"(arrived.address()), "r"(int(i) + g * line_doubles), "r"(int(j))
        : "memory");
#endif
}

/// Makes what this lane has written to shared memory known to the copy engine.
__device__ inline void show_to_copy_engine() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// One lane has the copy engine take `groups` boxes of 16 rows back to memory: what is inside of the matrix.
__device__ inline void send_box(const CUtensorMap& X, std::int64_t i, std::int64_t j, int groups, int outer,
                                unsigned from) {
#if __CUDA_ARCH__ >= 900
  for (int g = 0; g < groups; ++g)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&X),
                 "r"(from + unsigned(g * outer) * line_bytes), "r"(int(i) + g * line_doubles), "r"(int(j))
                 : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// Until the copy engine has read what this lane has had it send.
__device__ inline void await_sent() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/// Whether the copy engine can read a matrix: addresses and columns aligned to 16 bytes, sizes that it can count.
inline bool is_fetchable(const BoxSource& X) {
  return reinterpret_cast<std::uintptr_t>(X.data) % 16 == 0 && X.ld % 2 == 0 && X.rows > 0 && X.cols > 0 &&
         X.rows < (std::int64_t(1) << 31) && X.cols < (std::int64_t(1) << 31) && X.ld < (std::int64_t(1) << 36);
}

/// How the copy engine finds boxes of 16 rows and `outer` columns in a matrix.
inline CUtensorMap box_map(const BoxSource& X, int outer) {
  static const auto encode = [] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw MachineError("CUDA: the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f);
  }();
  CUtensorMap map;
  const cuuint64_t size[] = {cuuint64_t(X.rows), cuuint64_t(X.cols)}, stride[] = {cuuint64_t(X.ld) * sizeof(double)};
  const cuuint32_t box[] = {line_doubles, cuuint32_t(outer)}, every[] = {1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<double*>(X.data), size, stride,
                                 box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw MachineError("CUDA: a matrix cannot be described to the copy engine");
  return map;
}

}  // namespace lasolve::tensor_f64
