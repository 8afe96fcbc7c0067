// The diagonal block of the synchronization-free solve, for few right-hand sides: order 128, or 64 where a block of
// threads has too little shared memory.
//
// For few right-hand sides in fp32 it is inverted beforehand, where its condition allows it. Else its blocks of order 16 are, and what is
// below them is multiplied by the inverse. Then x(s), and what it takes from the unknowns below, are one product with what is left of b(s).
#pragma once

#include "solvers/devices/cuda/trsm/forward_substitution.cuh"
#include "solvers/devices/cuda/trsm/inverted_block.cuh"

namespace lasolve {

constexpr int inverted_order = 16;  // order of the blocks that are inverted

/// A block of `order` unknowns, and of threads.
template <int order_>
struct SyncFreeBlock {
  static constexpr int order = order_, threads = 4 * order, parts = order / inverted_order;
  static constexpr int stride = order + 4;   // of vectors: no bank conflicts between them
  static_assert(threads / 32 * 8 == order);  // warps share the tiles of 8 rows

  /// Where element (i, k) of the block is. Above its diagonal blocks of order 16 it is not set.
  __device__ static constexpr int place(int i, int k) { return k * stride + i; }
};

template <class T, class Work>
struct DiagonalBlock {
  alignas(16) T triangle[Work::order * Work::stride];
  alignas(16) typename Work::Number rest[Work::nrhs][Work::stride];  // what is left of b
  unsigned inverted[Work::parts];
  unsigned norms[2];  // bits of the 1-norms of the block and of its inverse
  bool is_inverse;    // the triangle is the inverse of the block
};

/// Who has which unknown, and the product of its row of T(·, s) with what is left of b(s): a thread an unknown of one side, a number of R.
template <class T, class Block, int nrhs_, class R>
class FewRhsOfDiagonal : public Block {
 public:
  using Number = R;
  static constexpr int nrhs = nrhs_, values = 1;
  static_assert(nrhs * Block::order <= Block::threads);
  __device__ static int unknown() { return threadIdx.x % Block::order; }
  __device__ static int rhs(int) { return nrhs == 1 ? 0 : threadIdx.x / Block::order; }
  __device__ static bool has(int) { return threadIdx.x < nrhs * Block::order; }

  __device__ void fetch_row(const T* t, int s) {
#pragma unroll
    for (int k = 0; k < inverted_order; ++k) row_[k] = t[Block::place(unknown(), s * inverted_order + k)];
  }
  __device__ void product(const R (&rest)[nrhs][Block::stride], int s, R (&product)[1]) const {
    R sum[4] = {};
#pragma unroll
    for (int k = 0; k < inverted_order; ++k) sum[k % 4] += R(row_[k]) * rest[rhs(0)][s * inverted_order + k];
    product[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

 private:
  T row_[inverted_order];
};

/// The same for eight right-hand sides: a warp has eight unknowns, lane 4g + t unknown g of sides 2t and 2t + 1.
template <class T, class Block>
class EightRhsOfDiagonal : public Block {
 public:
  using Number = double;
  static constexpr int nrhs = 8, values = 2;
  __device__ static int unknown() { return threadIdx.x / 4; }
  __device__ static int rhs(int u) { return threadIdx.x % 4 * 2 + u; }
  __device__ static bool has(int) { return true; }

  __device__ void fetch_row(const T* t, int s) {
#pragma unroll
    for (int k = 0; k < inverted_order / 4; ++k)
      row_[k] = t[Block::place(unknown(), s * inverted_order + 4 * k + threadIdx.x % 4)];
  }
  __device__ void product(const double (&rest)[8][Block::stride], int s, double (&product)[2]) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    product[0] = product[1] = 0;
#pragma unroll
    for (int k = 0; k < inverted_order / 4; ++k)
      multiply_8x8x4(product, double(row_[k]), rest[g][s * inverted_order + 4 * k + t]);
  }

 private:
  T row_[inverted_order / 4];
};

/// Fetches the diagonal block that starts at `start`, without waiting for it. A thread fetches every fourth element of a
/// row or a column, so that neighbours fetch what is side by side in memory.
template <class Block, class T>
__device__ void fetch_diagonal(const ForwardTriangle<T>& tri, std::int64_t start, T* t) {
  constexpr int step = Block::threads / Block::order;
  const bool along_row = tri.row_stride == 1 || tri.row_stride == -1;
  const int fixed = threadIdx.x % Block::order, part = fixed / inverted_order * inverted_order;
  int i = along_row ? fixed : part + threadIdx.x / Block::order, k = along_row ? threadIdx.x / Block::order : fixed;
  const int count = (along_row ? part + inverted_order : Block::order - part) / step;
  const std::int64_t from_step = step * (along_row ? tri.col_stride : tri.row_stride);
  const int to_step = along_row ? Block::place(0, step) : Block::place(step, 0);
  const T* from = tri.at(start + i, start + k);
  T* to = t + Block::place(i, k);
#pragma unroll 4
  for (int turn = 0; turn < count; ++turn, from += from_step, to += to_step) {
    fetch_element(to, from, tri, start + i, start + k);
    (along_row ? k : i) += step;
  }
  __pipeline_commit();
}

/// T(r, s) ← T(r, s) inv(T(s, s)) for all r > s where the inverse is there: warps share the tiles of 8 rows.
template <class Block, class T>
__device__ void multiply_by_inverses(T* t, const unsigned* inverted) {
  constexpr int rows = 8;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
  for (int s = 0; s < Block::parts; ++s) {
    const int first = s * inverted_order, i = warp * rows + g;
    if (warp * rows < first + inverted_order || !inverted[s]) continue;
    double a[inverted_order / 4], product[2][2] = {};
#pragma unroll
    for (int k = 0; k < inverted_order / 4; ++k) a[k] = double(t[Block::place(i, first + 4 * k + l)]);
#pragma unroll
    for (int k = 0; k < inverted_order / 4; ++k)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        multiply_8x8x4(product[h], a[k], double(t[Block::place(first + 4 * k + l, first + 8 * h + g)]));
    __syncwarp();  // all have read
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int u = 0; u < 2; ++u) t[Block::place(i, first + 8 * h + 2 * l + u)] = T(product[h][u]);
  }
}

/// Fetches a block and inverts its blocks of order 16.
template <class T, class Work>
__device__ void invert_parts(const ForwardTriangle<T>& tri, std::int64_t start, DiagonalBlock<T, Work>& d) {
  fetch_diagonal<Work>(tri, start, d.triangle);
  __pipeline_wait_prior(0);
  __syncthreads();
  if constexpr (Work::inverts_blocks) {
    take_one_norm<Work>(d.triangle, &d.norms[0]);
    __syncthreads();
  }
  if (threadIdx.x < Work::order) {
    const int s = threadIdx.x / inverted_order;
    const auto element = [&](int i, int k) -> T& {
      return d.triangle[Work::place(s * inverted_order + i, s * inverted_order + k)];
    };
    const bool done = invert_block<inverted_order, T>(element, tri.unit, lanes_of_group<inverted_order>());
    if (threadIdx.x % inverted_order == 0) d.inverted[s] = done;
  }
  __syncthreads();
}

/// Of the inverses of its blocks of order 16, that of the whole block. False where its condition does not allow that: the triangle is
/// undefined then.
template <class T, class Work>
__device__ bool invert_whole(DiagonalBlock<T, Work>& d) {
  bool good = true;
  for (int s = 0; s < Work::parts; ++s) good = good && d.inverted[s];
  if (!good) return false;
  invert_by_doubling<inverted_order, Work>(d.triangle);
  take_one_norm<Work>(d.triangle, &d.norms[1]);
  __syncthreads();
  return __uint_as_float(d.norms[0]) * __uint_as_float(d.norms[1]) <= most_condition_to_invert_whole;
}

template <class T, class Work>
__device__ void prepare_diagonal(const ForwardTriangle<T>& tri, std::int64_t start, DiagonalBlock<T, Work>& d) {
  if constexpr (Work::inverts_blocks)
    if (threadIdx.x < 2) d.norms[threadIdx.x] = 0;
  __syncthreads();  // the block before is done
  invert_parts(tri, start, d);
  if constexpr (Work::inverts_blocks) {
    const bool is_inverse = invert_whole(d);
    if (threadIdx.x == 0) d.is_inverse = is_inverse;
    __syncthreads();
    if (is_inverse) return;
    invert_parts(tri, start, d);
  }
  multiply_by_inverses<Work>(d.triangle, d.inverted);
  __syncthreads();
}

/// rest ← inv(T(s, s)) rest by substitution, by one warp.
template <class T, class Work>
__device__ void substitute_part(DiagonalBlock<T, Work>& d, int s, bool unit) {
  const int lane = threadIdx.x % 32, first = s * inverted_order;
  auto& rest = d.rest[lane % Work::nrhs];
  for (int k = 0; k < inverted_order; ++k) {
    typename Work::Number unknown = rest[first + k];
    if (!unit) unknown /= d.triangle[Work::place(first + k, first + k)];
    __syncwarp();
    if (lane / Work::nrhs == 0) rest[first + k] = unknown;
    for (int i = k + 1 + lane / Work::nrhs; i < inverted_order; i += 32 / Work::nrhs)
      rest[first + i] -= d.triangle[Work::place(first + i, first + k)] * unknown;
    __syncwarp();
  }
}

/// Solves with a diagonal block by parts. `mine` is b on entry and x on exit; done() is called as soon as it is x.
template <class T, class Work, class Done>
__device__ void solve_by_parts(DiagonalBlock<T, Work>& d, bool unit, Work& work,
                               typename Work::Number (&mine)[Work::values], Done done) {
  unsigned inverted = 0;
#pragma unroll
  for (int s = 0; s < Work::parts; ++s) inverted |= d.inverted[s] << s;
  int turn = Work::has(0) ? Work::unknown() / inverted_order : -1;  // 0: these unknowns; above 0: those below
#pragma unroll 1
  for (int s = 0; s < Work::parts; ++s, --turn) {
    if (turn == 0)
#pragma unroll
      for (int u = 0; u < Work::values; ++u) d.rest[Work::rhs(u)][Work::unknown()] = mine[u];
    if (turn >= 0) work.fetch_row(d.triangle, s);
    __syncthreads();
    const bool inverse = inverted >> s & 1;
    if (!inverse) {
      if (threadIdx.x < 32) substitute_part(d, s, unit);
      __syncthreads();
    }
    if (turn < 0) continue;
    typename Work::Number product[Work::values];
    work.product(d.rest, s, product);
#pragma unroll
    for (int u = 0; u < Work::values; ++u)
      mine[u] = turn > 0 ? mine[u] - product[u] : inverse ? product[u] : d.rest[Work::rhs(u)][Work::unknown()];
    if (turn == 0) done();
  }
}

}  // namespace lasolve
