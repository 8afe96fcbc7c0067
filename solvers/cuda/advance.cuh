// What is between two panels of LU, as one kernel: rows are exchanged, and the columns of the next panel brought up to date.
//
//     [C1; C2] ← P [C1; C2]     U = inv(L11) C1     C2 ← C2 − L21 U
//
// Idea     Solvers are the first blocks. Each has 8 columns: exchanges their rows, and solves for U in them. Multipliers
//          are the others. Each has a tile of C2, fetches its rows of L21 meanwhile, and goes on when all of U is there. L
//          is read where the panel has left it: its rows are exchanged later, by somebody who is not waited for. Blocks are
//          given room in the order of their numbers: else multipliers could keep the solvers out.
// Tiles    rows × 64 of C2, rows = 32, 64 or 128, and all of k ≤ 128 in shared memory; products of 16 × 8 × 8 on fp64
//          tensor cores, in fp32 too.
// Traffic  L21 twice, C once, and U, 64 KiB in fp64, for each tile: from the L2 cache.
// Expect   bound by latency, in clocks: 4000 until the solvers have read, 4000 to solve, 2000 to tell, 6000 to multiply.
//          Measured (m = 4096): 2800, 9000, of which 3000 go into inverting the diagonal tiles, 1500, and 12 000, because
//          all multipliers read U at the same time.
#pragma once

#include "solvers/cuda/fp64_tile.cuh"
#include "solvers/cuda/lu_panel.cuh"

namespace lasolve {

constexpr int advance_threads = 256, advance_warps = advance_threads / 32;
constexpr int solver_columns = 8, multiplier_columns = 64;

template <class T>
struct AdvanceProblem {
  MatrixView<T, Cuda> L, C;  // m × k and m × n
  const T* corner;           // L11, as Corner says
  Permuted moves;
  unsigned* told;  // by how many solvers, and from bit 8 on to how many multipliers
  unsigned solvers, multipliers;
};

/// What a solver shares.
template <class T>
struct SolverShared {
  alignas(16) T corner[Corner<T>::elements];
  alignas(16) double solved[Corner<T>::tiles][2][32][2];  // tiles of U, as lanes hold them: [q][m][lane][s]
  T columns[solver_columns][most_panel_columns + 4];      // of C1
  bool inverted[Corner<T>::tiles];
};

/// U = inv(L11) C1. A warp has tiles w and w + 8 of the unknowns, and there is one barrier between two tiles. The loop is
/// not unrolled: it is run once, and its code would have to be fetched.
template <class T>
__device__ __forceinline__ void solve_together(SolverShared<T>& s) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  StripTile x[2] = {};  // the strip is half empty: its sides 8, 9, …, are zero
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i) x[j][0][i] = s.columns[g][8 * (advance_warps * j + warp) + 4 * i + t];
  const bool inverted[2] = {s.inverted[warp], s.inverted[advance_warps + warp]};
#pragma unroll 1
  for (int q = 0; q < Corner<T>::tiles; ++q) {
    if (warp == q % advance_warps) {
      const int j = q / advance_warps;
      const T* tile = s.corner + tile_start(q, q);
      StripTile y, u = {};
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 2; ++i) y[m][i] = j == 0 ? x[0][m][i] : x[1][m][i];
      if (j == 0 ? inverted[0] : inverted[1])
        add_product(u, tile, y);
      else
        substitute(y, tile, true);
#pragma unroll
      for (int m = 0; m < 2; ++m)
        *reinterpret_cast<double2*>(s.solved[q][m][lane]) =
            (j == 0 ? inverted[0] : inverted[1]) ? double2{u[m][0], u[m][1]} : double2{y[m][0], y[m][1]};
    }
    __syncthreads();
    StripTile u;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const double2 pair = *reinterpret_cast<const double2*>(s.solved[q][m][lane]);
      u[m][0] = pair.x, u[m][1] = pair.y;
    }
#pragma unroll
    for (int j = 0; j < 2; ++j)  // tiles off the diagonal are negative
      if (const int r = advance_warps * j + warp; r > q) add_product(x[j], s.corner + tile_start(r, q), u);
  }
}

/// Exchanges the rows of some columns of C, and solves for U in them.
template <class T>
__device__ __forceinline__ void solve_columns(const AdvanceProblem<T>& p, unsigned char* memory) {
  auto& s = *reinterpret_cast<SolverShared<T>*>(memory);
  constexpr int at_once = advance_threads / most_panel_columns, turns = solver_columns / at_once;
  const int k = int(p.L.cols()), first = int(blockIdx.x) * solver_columns;
  const int there = min(solver_columns, int(p.C.cols()) - first);
  const int i = threadIdx.x % most_panel_columns, column = threadIdx.x / most_panel_columns;
  const std::int64_t source = i < k ? p.moves.sources[i] : 0, target = i < k ? p.moves.targets[i] : 0, ld = p.C.ld();
  T *C = p.C.data() + first * ld, comes[turns], goes[turns];
  for (int e = 16 / sizeof(T) * threadIdx.x; e < Corner<T>::elements; e += 16 / sizeof(T) * advance_threads)
    __pipeline_memcpy_async(s.corner + e, p.corner + e, 16);
  __pipeline_commit();
#pragma unroll
  for (int j = 0; j < turns; ++j) {
    const int c = column + j * at_once;
    comes[j] = i < k && c < there ? C[source + c * ld] : T(0);
    goes[j] = target >= k && c < there ? C[i + c * ld] : T(0);
  }
#pragma unroll
  for (int j = 0; j < turns; ++j) s.columns[column + j * at_once][i] = comes[j];
  __pipeline_wait_prior(0);
  __syncthreads();  // all have read
  if (k < most_panel_columns) {
    fill_up_corner(s.corner, k);
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < turns; ++j)
    if (const int c = column + j * at_once; target >= k && c < there) C[target + c * ld] = goes[j];
  invert_diagonal<T, Corner<T>::tiles>(s.corner, true, s.inverted);
  __syncthreads();
  solve_together(s);
#pragma unroll
  for (int j = 0; j < turns; ++j)
    if (const int c = column + j * at_once; i < k && c < there)
      C[i + c * ld] = T(s.solved[i / 8][0][4 * c + i % 4][i % 8 / 4]);
  __syncthreads();
  if (threadIdx.x == 0 && p.multipliers > 0) {
    __threadfence();
    atomicAdd(p.told, 1u);
  }
}

/// Waits until all solvers have told that their part of U is there. The last who hears it leaves the counter as it was.
template <class T>
__device__ __forceinline__ void await_solvers(const AdvanceProblem<T>& p) {
  if (threadIdx.x == 0) {
    unsigned told;
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(told) : "l"(p.told) : "memory");
    while (told % 256 < p.solvers);
    if (atomicAdd(p.told, 256u) / 256 == p.multipliers - 1) *p.told = 0;
  }
  __syncthreads();
}

/// What a multiplier shares.
template <int rows, class T>
struct MultiplierShared {
  alignas(16) T L[most_panel_columns][rows + 4];                // L[q][i]
  alignas(16) T U[multiplier_columns][most_panel_columns + 4];  // U[c][q]
  int place[rows];                                              // where the rows of L are
};

template <class T>
__device__ __forceinline__ void fetch_or_zero(T* to, const T* from, bool there) {
  if (there)
    __pipeline_memcpy_async(to, from, sizeof(T));
  else
    *to = 0;
}

/// A tile of C2 ← C2 − L21 U.
template <int rows, class T>
__device__ __forceinline__ void multiply_rows(const AdvanceProblem<T>& p, unsigned char* memory) {
  constexpr int across = rows == 32 ? 8 : rows == 64 ? 4 : 2, down = advance_warps / across;  // warps
  constexpr int high = rows / down / 16, wide = multiplier_columns / across / 8;              // products of a warp
  constexpr int parts = 4, part = most_panel_columns / parts;                                 // of k
  auto& s = *reinterpret_cast<MultiplierShared<rows, T>*>(memory);
  const int k = int(p.L.cols()), groups = int(p.C.cols() + multiplier_columns - 1) / multiplier_columns;
  const int block = int(blockIdx.x - p.solvers), first = k + block / groups * rows, last = int(p.C.rows()) - 1;
  const int c0 = block % groups * multiplier_columns, last_column = int(p.C.cols()) - 1;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int target = int(threadIdx.x) < k ? int(p.moves.targets[threadIdx.x]) - first : -1;
  if (const int i = threadIdx.x; i < rows) s.place[i] = min(first + i, last);
  __syncthreads();
  if (target >= 0 && target < rows) s.place[target] = threadIdx.x;
  __syncthreads();
  const T* L = p.L.data() + s.place[threadIdx.x % rows];
#pragma unroll 8
  for (int q = threadIdx.x / rows; q < most_panel_columns; q += advance_threads / rows)
    fetch_or_zero(&s.L[q][threadIdx.x % rows], L + q * p.L.ld(), q < k);
  await_solvers(p);
#pragma unroll
  for (int k0 = 0; k0 < most_panel_columns; k0 += part) {
#pragma unroll
    for (int c = threadIdx.x / part; c < multiplier_columns; c += advance_threads / part) {
      const int q = k0 + threadIdx.x % part;
      fetch_or_zero(&s.U[c][q], p.C.data() + q + min(c0 + c, last_column) * p.C.ld(), q < k);
    }
    __pipeline_commit();
  }
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
    if (k0 == 0) __pipeline_wait_prior(3);
    if (k0 == part) __pipeline_wait_prior(2);
    if (k0 == 2 * part) __pipeline_wait_prior(1);
    if (k0 == 3 * part) __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll 2
    for (int q = k0 + t; q < k0 + part; q += 8) {
      double a[high][4];
#pragma unroll
      for (int i = 0; i < high; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = s.L[q + e / 2 * 4][i0 + 16 * i + e % 2 * 8];
#pragma unroll
      for (int j = 0; j < wide; ++j) {
        const double b[2] = {s.U[j0 + 8 * j + g][q], s.U[j0 + 8 * j + g][q + 4]};
#pragma unroll
        for (int i = 0; i < high; ++i) multiply_tile(sum[i][j], a[i], b, sum[i][j]);
      }
    }
  }
  with_C([](T& at, T C, double product) { at = T(double(C) - product); });
}

template <int rows, class T>
__global__ void __launch_bounds__(advance_threads, 1) advance_columns(AdvanceProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (blockIdx.x < problem.solvers)
    solve_columns(problem, memory);
  else
    multiply_rows<rows>(problem, memory);
}

template <int rows, class T>
void launch_advance(Queue<Cuda>& q, AdvanceProblem<T> p) {
  const std::int64_t below = p.C.rows() - p.L.cols(), n = p.C.cols();
  p.solvers = unsigned((n + solver_columns - 1) / solver_columns);
  p.multipliers = unsigned((below + rows - 1) / rows * ((n + multiplier_columns - 1) / multiplier_columns));
  launch(q, advance_columns<rows, T>, Blocks::apart, dim3(p.solvers + p.multipliers), advance_threads,
         std::max(sizeof(SolverShared<T>), sizeof(MultiplierShared<rows, T>)), p);
}

/// C ← what the panel L, the last kernel of this queue, leaves of it, if both have few columns; and whether they have. The
/// rows of C are exchanged, and those of L stay where the panel has left them. L: m × k, C: m × n.
/// Flops k² n + 2 (m − k) k n.
template <class T>
bool eliminate_at_once(Queue<Cuda>& q, MatrixView<T, Cuda> L, Pivots<Cuda> pivots, MatrixView<T, Cuda> C) {
  const std::int64_t k = L.cols(), below = C.rows() - k;
  if (C.empty() || k > widest_panel<T>(q) || C.cols() > most_panel_columns) return false;
  if (q.shared_memory() < sizeof(MultiplierShared<128, T>)) return false;
  const Moves moves = moves_of(pivots);
  const AdvanceProblem<T> p{L, C, Corner<T>::of(q), {moves.sources, moves.targets}, q.counter(), 0, 0};
  (below <= 2048 ? launch_advance<32, T> : below <= 4096 ? launch_advance<64, T> : launch_advance<128, T>)(q, p);
  return true;
}

}  // namespace lasolve
