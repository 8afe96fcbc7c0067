// The look-ahead update of LU as one kernel: what is between two panels on the critical path. It makes the row
// interchanges, and brings the columns of the next panel up to date.
//
//     [C1; C2] ← P [C1; C2]     U = inv(L11) C1     C2 ← C2 − L21 U
//
// Idea     Solvers are the first blocks of the grid. Each has 8 columns: it interchanges their rows, and solves for U in
//          them. Multipliers are the other blocks. Each has a tile of C2, and fetches its rows of L21 meanwhile. It
//          multiplies by one part of U after the other, when all solvers have published it, while they solve for the
//          next. L is read where the panel has left it; its rows are interchanged later, off the critical path. Where
//          multipliers fill the device before a solver has begun, they solve in its place.
// Tiles    rows × 64 of C2, rows = 32, 64 or 128. Shared memory has L for all of k ≤ 128, and U for two parts of 32.
//          Products are 16 × 8 × 8 on fp64 tensor cores, in fp32 too.
// Traffic  L21 twice, C once, and U, 64 KiB in fp64, for each tile: from the L2 cache.
// Expect   bound by latency, in clocks: 4000 until the solvers have read, 4000 to solve, 2000 to publish, 2000 to
//          multiply by the last part.
// Reached  at m = 2048: 2000, 2000 to invert the diagonal tiles, 9500, of which a part takes 2400, 1500 and 2000.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/fp64_tile.cuh"
#include "solvers/lu/cuda/panel.cuh"

namespace lasolve {

constexpr int lookahead_threads = 256, lookahead_warps = lookahead_threads / 32;
constexpr int publisher = lookahead_threads - 32;  // the thread of a solver that publishes what is solved
constexpr int solver_columns = 8, multiplier_columns = 64;
constexpr int lookahead_parts = 4, lookahead_part = most_panel_columns / lookahead_parts;  // of the unknowns

template <class T>
struct LookaheadProblem {
  MatrixView<T, Cuda> L, C;  // m × k and m × n
  const T* packed_L11;       // L11, as PackedL11 says
  RowPermutation interchanges;
  unsigned* published;  // how many solvers have published each part of U, and how many blocks are done
  unsigned* claims;     // bit i: a block solves for the columns of solver i
  WaitLimit* limit;
  unsigned solvers, multipliers;
};

/// What a solver shares.
template <class T>
struct SolverShared {
  alignas(16) T packed_L11[PackedL11<T>::elements];
  alignas(16) double solved[PackedL11<T>::tiles][2][32][2];  // tiles of U, as lanes hold them: [q][m][lane][s]
  T columns[solver_columns][most_panel_columns + 4];         // of C1
  bool inverted[PackedL11<T>::tiles];
};

/// Waits at a barrier of some warps; 0 is that of all.
__device__ __forceinline__ void named_barrier_sync(int barrier, int warps) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

/// Arrives at it without waiting. What the thread wrote before is visible to those that wait.
__device__ __forceinline__ void named_barrier_arrive(int barrier, int warps) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

/// By one warp: writes U to C, part by part, and publishes each, once its writes have arrived.
template <class T>
__device__ __forceinline__ void publish_parts(SolverShared<T>& s, const LookaheadProblem<T>& p, T* C, int columns) {
#pragma unroll 1
  for (int part = 0; part < lookahead_parts; ++part) {
    named_barrier_sync(2 + part, lookahead_warps);  // its last tile is solved
    const int i = part * lookahead_part + int(threadIdx.x) % 32;
#pragma unroll
    for (int c = 0; c < solver_columns; ++c)
      if (i < int(p.L.cols()) && c < columns)
        C[i + c * p.C.ld()] = T(s.solved[i / tile_order][0][4 * c + i % 4][i % tile_order / 4]);
    __syncwarp();
    if (threadIdx.x % 32 > 0 || p.multipliers == 0) continue;
    __threadfence();
    atomicAdd(p.published + part, 1u);
  }
}

/// U = inv(L11) C1. Warp w has tiles w, w + 7 and w + 14 of the unknowns, and there is one barrier between two tiles.
/// The last warp publishes them. The loop is not unrolled: it runs once, and its code would have to be fetched.
template <class T>
__device__ __forceinline__ void solve_by_all_warps(SolverShared<T>& s, const LookaheadProblem<T>& p, T* C,
                                                   int columns) {
  constexpr int warps = lookahead_warps - 1, turns = 3, tiles_a_part = lookahead_part / tile_order;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  if (warp == warps) return publish_parts(s, p, C, columns);
  UnknownTile x[turns] = {};  // half of the right-hand sides, 8, 9, …, are zero
#pragma unroll
  for (int j = 0; j < turns; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if (const int r = warps * j + warp; r < PackedL11<T>::tiles) x[j][0][i] = s.columns[g][8 * r + 4 * i + t];
#pragma unroll 1
  for (int q = 0; q < PackedL11<T>::tiles; ++q) {
    const bool ours = warp == q % warps;
    if (ours) {
      const T* tile = s.packed_L11 + tile_start(q, q);
      UnknownTile y, u = {};
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 2; ++i) y[m][i] = q < warps ? x[0][m][i] : q < 2 * warps ? x[1][m][i] : x[2][m][i];
      const bool inverted = s.inverted[q];
      if (inverted)
        add_product(u, tile, y);
      else
        substitute(y, tile, true);
#pragma unroll
      for (int m = 0; m < 2; ++m)
        *reinterpret_cast<double2*>(s.solved[q][m][lane]) =
            inverted ? double2{u[m][0], u[m][1]} : double2{y[m][0], y[m][1]};
    }
    named_barrier_sync(1, warps);
    if (q % tiles_a_part == tiles_a_part - 1) named_barrier_arrive(2 + q / tiles_a_part, lookahead_warps);
    UnknownTile u;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const double2 pair = *reinterpret_cast<const double2*>(s.solved[q][m][lane]);
      u[m][0] = pair.x, u[m][1] = pair.y;
    }
#pragma unroll
    for (int j = 0; j < turns; ++j)  // tiles off the diagonal are negative
      if (const int r = warps * j + warp; r > q && r < PackedL11<T>::tiles)
        add_product(x[j], s.packed_L11 + tile_start(r, q), u);
  }
}

/// Claims the columns of a solver, interchanges their rows, and solves for U in them. Nothing, where another block has claimed
/// them. That is known when L11 has arrived, before C is written.
template <class T>
__device__ __forceinline__ void solve_columns(const LookaheadProblem<T>& p, unsigned solver, unsigned char* memory) {
  auto& s = *reinterpret_cast<SolverShared<T>*>(memory);
  constexpr int at_once = lookahead_threads / most_panel_columns, turns = solver_columns / at_once;
  static_assert(most_panel_columns / solver_columns <= 32, "a claim is a bit");
  const unsigned claimed = threadIdx.x == 0 ? atomicOr(p.claims, 1u << solver) : 0;
  const int k = int(p.L.cols()), first = int(solver) * solver_columns;
  const int there = min(solver_columns, int(p.C.cols()) - first);
  const int i = threadIdx.x % most_panel_columns, column = threadIdx.x / most_panel_columns;
  const std::int64_t source = i < k ? p.interchanges.sources[i] : 0, target = i < k ? p.interchanges.targets[i] : 0;
  const std::int64_t ld = p.C.ld();
  T *C = p.C.data() + first * ld, comes[turns], goes[turns];
  for (int e = 16 / sizeof(T) * threadIdx.x; e < PackedL11<T>::elements; e += 16 / sizeof(T) * lookahead_threads)
    __pipeline_memcpy_async(s.packed_L11 + e, p.packed_L11 + e, 16);
  __pipeline_commit();
#pragma unroll
  for (int j = 0; j < turns; ++j) {
    const int c = column + j * at_once;
    comes[j] = i < k && c < there ? C[source + c * ld] : T(0);
    goes[j] = target >= k && c < there ? C[i + c * ld] : T(0);
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  if (k < most_panel_columns) {
    pad_packed_L11(s.packed_L11, k);
    __syncthreads();
  }
  invert_diagonal<T, PackedL11<T>::tiles>(s.packed_L11, true, s.inverted);
#pragma unroll
  for (int j = 0; j < turns; ++j) s.columns[column + j * at_once][i] = comes[j];
  if (__syncthreads_or(claimed >> solver & 1)) return;  // else all have read
#pragma unroll
  for (int j = 0; j < turns; ++j)
    if (const int c = column + j * at_once; target >= k && c < there) C[target + c * ld] = goes[j];
  solve_by_all_warps(s, p, C, there);
}

/// Whether all solvers have published a part of U.
template <class T>
__device__ __forceinline__ bool is_published(const LookaheadProblem<T>& p, int part) {
  unsigned published;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(published) : "l"(p.published + part) : "memory");
  return published >= p.solvers;
}

/// By one thread: waits for a part of U. Where that takes too long, what is computed is of no use.
template <class T>
__device__ __forceinline__ void wait_for_part(const LookaheadProblem<T>& p, int part) {
  until(p.limit, {Awaited::part_of_U, unsigned(part), p.solvers}, [&] { return is_published(p, part); });
}

/// By one thread: waits for the first part of U. False: after some milliseconds a solver has not begun.
template <class T>
__device__ __forceinline__ bool wait_for_first_part(const LookaheadProblem<T>& p) {
  constexpr unsigned most_polls = 4096;
  for (unsigned polls = 0; polls < most_polls; ++polls)
    if (is_published(p, 0)) return true;
  if (*const_cast<const volatile unsigned*>(p.claims) != (1ull << p.solvers) - 1) return false;
  wait_for_part(p, 0);
  return true;
}

/// By one thread of each block, which waits no more and has published all: the last sets the counters back to zero.
template <class T>
__device__ __forceinline__ void finish_block(const LookaheadProblem<T>& p) {
  if (atomicAdd(p.published + lookahead_parts, 1u) < p.solvers + p.multipliers - 1) return;
  for (int i = 0; i <= lookahead_parts; ++i) p.published[i] = 0;
  *p.claims = 0;
}

/// What a multiplier shares.
template <int rows, class T>
struct MultiplierShared {
  alignas(16) T L[most_panel_columns][rows + 4];               // L[q][i]
  alignas(16) T U[2][multiplier_columns][lookahead_part + 4];  // U[stage][c][q], the parts alternate
  int place[rows];                                             // where the rows of L are
};

template <class T>
__device__ __forceinline__ void fetch_or_zero(T* to, const T* from, bool there) {
  if (there)
    __pipeline_memcpy_async(to, from, sizeof(T));
  else
    *to = 0;
}

/// Begins to fetch rows first, … of L, from where the panel has left them.
template <int rows, class T>
__device__ __forceinline__ void fetch_rows_of_L(MultiplierShared<rows, T>& s, const LookaheadProblem<T>& p, int first) {
  const int k = int(p.L.cols()), last = int(p.C.rows()) - 1;
  const int target = int(threadIdx.x) < k ? int(p.interchanges.targets[threadIdx.x]) - first : -1;
  if (const int i = threadIdx.x; i < rows) s.place[i] = min(first + i, last);
  __syncthreads();
  if (target >= 0 && target < rows) s.place[target] = threadIdx.x;
  __syncthreads();
  const T* L = p.L.data() + s.place[threadIdx.x % rows];
#pragma unroll 8
  for (int q = threadIdx.x / rows; q < most_panel_columns; q += lookahead_threads / rows)
    fetch_or_zero(&s.L[q][threadIdx.x % rows], L + q * p.L.ld(), q < k);
}

/// Begins to fetch columns c0, … of the part of U that begins at row k0, which is published.
template <int rows, class T>
__device__ __forceinline__ void fetch_part_of_U(MultiplierShared<rows, T>& s, const LookaheadProblem<T>& p, int k0,
                                                int c0) {
  constexpr int part = lookahead_part;
  const int k = int(p.L.cols()), last_column = int(p.C.cols()) - 1, q = threadIdx.x % part;
#pragma unroll
  for (int c = threadIdx.x / part; c < multiplier_columns; c += lookahead_threads / part)
    fetch_or_zero(&s.U[k0 / part % 2][c][q], p.C.data() + k0 + q + min(c0 + c, last_column) * p.C.ld(), k0 + q < k);
  __pipeline_commit();
}

/// A tile of C2 ← C2 − L21 U. False: nothing was written, since a solver has not begun.
template <int rows, class T>
__device__ __forceinline__ bool multiply_rows(const LookaheadProblem<T>& p, int block, unsigned char* memory) {
  constexpr int across = rows == 32 ? 8 : rows == 64 ? 4 : 2, down = lookahead_warps / across;  // warps
  constexpr int high = rows / down / 16, wide = multiplier_columns / across / 8;                // products of a warp
  constexpr int part = lookahead_part;
  auto& s = *reinterpret_cast<MultiplierShared<rows, T>*>(memory);
  const int k = int(p.L.cols()), groups = int(p.C.cols() + multiplier_columns - 1) / multiplier_columns;
  const int first = k + block / groups * rows, last = int(p.C.rows()) - 1;
  const int c0 = block % groups * multiplier_columns, last_column = int(p.C.cols()) - 1;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  fetch_rows_of_L(s, p, first);
  if (__syncthreads_or(threadIdx.x == 0 && !wait_for_first_part(p))) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // nothing more comes to this memory
    return false;
  }
  fetch_part_of_U(s, p, 0, c0);
  double sum[high][wide][4] = {};
  T C[high][wide][4];
  const int i0 = warp % down * high * 16 + g, j0 = warp / down * wide * 8;
  const auto with_C = [&](auto act) {
#pragma unroll
    for (int j = 0; j < wide; ++j)
#pragma unroll
      for (int i = 0; i < high; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (const int r = first + i0 + 16 * i + e / 2 * 8, c = c0 + j0 + 8 * j + 2 * t + e % 2;
              r <= last && c <= last_column)
            act(p.C.data()[r + c * p.C.ld()], C[i][j][e], sum[i][j][e]);
  };
  with_C([](T& at, T& C, double) { C = at; });
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += part) {
    if (k0 + part < k) {
      if (threadIdx.x == 0) wait_for_part(p, k0 / part + 1);
      __syncthreads();  // and the part before this one has been used
      fetch_part_of_U(s, p, k0 + part, c0);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const auto& U = s.U[k0 / part % 2];
#pragma unroll 1
    for (int q = t; q < part; q += 8) {
      double a[high][4];
#pragma unroll
      for (int i = 0; i < high; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = s.L[k0 + q + e / 2 * 4][i0 + 16 * i + e % 2 * 8];
#pragma unroll
      for (int j = 0; j < wide; ++j) {
        const double b[2] = {U[j0 + 8 * j + g][q], U[j0 + 8 * j + g][q + 4]};
#pragma unroll
        for (int i = 0; i < high; ++i) multiply_tile(sum[i][j], a[i], b, sum[i][j]);
      }
    }
  }
  with_C([](T& at, T C, double product) { at = T(double(C) - product); });
  return true;
}

/// What a block of the grid does: the first are solvers. CUDA does not say in which order blocks begin. A multiplier that has
/// waited for a solver which has not begun solves for all that have not, and then begins again.
template <int rows, class T>
__device__ __forceinline__ void update_by_block(const LookaheadProblem<T>& p, unsigned block, unsigned char* memory) {
  const bool solves = block < p.solvers;
  const unsigned end = solves ? block + 1 : p.solvers;
  for (unsigned solver = block;; solver = 0) {
#pragma unroll 1
    for (; solver < end; ++solver) {
      solve_columns(p, solver, memory);
      __threadfence();  // what is published comes before finish_block()
      if (!solves) __syncthreads();
    }
    if (solves || multiply_rows<rows>(p, int(block - p.solvers), memory)) break;
  }
  if (threadIdx.x == (solves ? publisher : 0)) finish_block(p);
}

template <int rows, class T>
__global__ void __launch_bounds__(lookahead_threads, rows < 128 ? 2 : 1)
    lookahead_update_kernel(LookaheadProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char memory[];
  // The next panel takes the first multiprocessors that are free, before the trailing update does. With few rows these
  // are too few.
  if constexpr (rows > 32) launch_dependents();
  update_by_block<rows>(problem, blockIdx.x, memory);
}

template <int rows, class T>
constexpr std::size_t lookahead_shared_memory = std::max(sizeof(SolverShared<T>), sizeof(MultiplierShared<rows, T>));

/// The rows of a tile where so many are below the panel. Tall tiles read U seldom, but a block must have the shared
/// memory.
template <class T>
int lookahead_tile_rows(const DeviceProperties& device, const Tuning& t, std::int64_t below) {
  static_assert(lookahead_shared_memory<32, T> <= least_shared_memory);
  if (below >= t.lookahead_128_rows_from && device.shared_memory >= lookahead_shared_memory<128, T>) return 128;
  return below >= t.lookahead_64_rows_from && device.shared_memory >= lookahead_shared_memory<64, T> ? 64 : 32;
}

/// With tiles of so many rows.
template <int rows, class T>
void launch_lookahead_update(Queue<Cuda>& q, const PanelInPlace<T>& panel, MatrixView<T, Cuda> C,
                             void (*kernel)(LookaheadProblem<T>) = lookahead_update_kernel<rows, T>) {
  const std::int64_t below = C.rows() - panel.A.cols(), n = C.cols();
  const LookaheadProblem<T> p{.L = panel.A,
                              .C = C,
                              .packed_L11 = panel.packed_L11,
                              .interchanges = panel.pivots.interchanges.panel,
                              .published = q.counter() + counters_of_parts,
                              .claims = q.counter() + claims_of_lookahead,
                              .limit = q.wait_limit(),
                              .solvers = unsigned(ceil_div(n, solver_columns)),
                              .multipliers = unsigned(ceil_div(below, rows) * ceil_div(n, multiplier_columns))};
  launch(q, kernel, Blocks::independent, dim3(p.solvers + p.multipliers), lookahead_threads,
         lookahead_shared_memory<rows, T>, p);
}

/// Brings C up to date with a panel that was left in place, L: m × k, k ≤ widest_panel. The rows of C are interchanged;
/// those of L stay where they are. C: m × n, n ≤ most_panel_columns.
/// Flops k² n + 2 (m − k) k n.
template <class T>
void lookahead_update(Queue<Cuda>& q, const PanelInPlace<T>& panel, MatrixView<T, Cuda> C) {
  switch (lookahead_tile_rows<T>(q.properties(), q.tuning(), C.rows() - panel.A.cols())) {
    case 32:
      return launch_lookahead_update<32>(q, panel, C);
    case 64:
      return launch_lookahead_update<64>(q, panel, C);
    default:
      return launch_lookahead_update<128>(q, panel, C);
  }
}

}  // namespace lasolve
