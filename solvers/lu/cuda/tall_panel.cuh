// A panel of LU that is taller than registers hold: m × n, n ≤ 32, any m, factored by one kernel in memory. Rows are
// left in their places, as in panel.cuh.
//
// Idea     Right-looking, column by column. A block has a range of rows and keeps their positions in shared memory. The
//          block that has the pivot broadcasts its row. Each block brings its own rows up to date, and on the way finds
//          their next candidate.
// Traffic  m n² elements are read or written, most of them in the L2 cache: 32 columns of 137000 rows are 35 MB.
// Expect   Some µs a column for the memory, and two messages. Only the first columns of the largest matrices need it,
//          where updates take far longer.
// Reached  32 columns of 137000 rows in 0.25 ms in fp32 and 0.31 in fp64 (H200).
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/lu/cuda/packed_L11.cuh"
#include "solvers/lu/cuda/subpanel.cuh"

namespace lasolve {

static_assert(tall_panel_columns == 32);  // a lane has an entry of a row
constexpr int tall_panel_threads = 512;

/// What the threads of a block share; behind it are the positions of its rows.
template <class T>
struct TallPanelShared {
  GridPivotSearch<PanelShape<
      T,
      PanelSize{.threads = tall_panel_threads, .rows = 1, .columns = tall_panel_columns, .widest = tall_panel_columns}>>
      search;
  T u[tall_panel_columns];  // the pivot row
  int row_of[tall_panel_columns];
};

/// The pivot row of step j to s.u in all blocks.
template <class T>
__device__ void spread_pivot_row(TallPanelShared<T>& s, MatrixView<T, Cuda> A, int j, int row, bool ours) {
  bool received = true;
  if (threadIdx.x < tall_panel_columns) {
    const auto entry = [&](int i) { return A.data()[row + min(i, int(A.cols()) - 1) * A.ld()]; };
    if (ours) s.search.template broadcast_row<tall_panel_columns>(s.u, j, entry);
    received = s.search.receive_row(s.u, j);
  }
  if (__syncthreads_or(!received)) leave_kernel();
}

/// Columns j + 1, … of row i ← row − l u, and the first of them.
template <class T>
__device__ T subtract_pivot_row(MatrixView<T, Cuda> A, int i, int j, T l, const T* u) {
  constexpr int batch = 16;
  const int n = int(A.cols());
  T first = 0;
  for (int c0 = j + 1; c0 < n; c0 += batch) {
    T* at = A.data() + i + c0 * A.ld();
    T x[batch];
#pragma unroll
    for (int e = 0; e < batch; ++e)
      if (c0 + e < n) x[e] = at[e * A.ld()];
#pragma unroll
    for (int e = 0; e < batch; ++e)
      if (c0 + e < n) at[e * A.ld()] = x[e] = fma(-l, u[c0 + e], x[e]);
    if (c0 == j + 1) first = x[0];
  }
  return first;
}

/// As factor_panel. All blocks must run at the same time.
template <class T>
__global__ void __launch_bounds__(tall_panel_threads, 1)
    factor_tall_panel(MatrixView<T, Cuda> A, int height, PanelPivots pivots, T* packed_L11, PacketChannel channel) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<TallPanelShared<T>*>(memory);
  int* position = reinterpret_cast<int*>(&s + 1);
  const int n = int(A.cols()), start = int(blockIdx.x) * height, end = min(start + height, int(A.rows()));
  const auto has = [&](int row) { return start <= row && row < end; };
  Candidate<T> mine;
  const auto consider = [&](T value, int at, int row) {
    Candidate<T> other;
    other.value = value, other.position = at, other.row = row;
    if (other.before(mine)) mine = other;
  };
  s.search.init(channel);
  pivots.begin(n, start + int(threadIdx.x), end);
  for (int i = start + int(threadIdx.x); i < end; i += tall_panel_threads) {
    position[i - start] = i;
    consider(A.data()[i], i, i);
  }
  for (int j = 0; j < n; ++j) {
    s.search.submit(j, mine, mine.magnitude());
    if (threadIdx.x < 32) s.search.send_candidate(j, int(blockIdx.x));
    const Candidate<T> winner = s.search.find_pivot(j, nullptr, false);
    spread_pivot_row(s, A, j, winner.row, has(winner.row));
    const bool extreme = is_extreme(winner.value);
    mine = {};
    for (int i = start + int(threadIdx.x); i < end; i += tall_panel_threads) {
      const int before = position[i - start];
      const int at = before == winner.position ? j : before == j ? winner.position : before;
      position[i - start] = at;
      if (at <= j) continue;
      T& entry = A.data()[i + j * A.ld()];
      const T l = (extreme ? entry * scale_for(winner.value) : entry) * winner.reciprocal;
      entry = l;
      if (j + 1 < n) consider(subtract_pivot_row(A, i, j, l, s.u), at, i);
    }
    if (threadIdx.x > 0) continue;
    s.row_of[j] = winner.row;
    if (blockIdx.x > 0) continue;
    pivots.p[j] = pivots.start + winner.position;
    if (winner.value == T(0) && *pivots.zero < 0) *pivots.zero = pivots.start + j;
  }
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) pivots.interchanges.counts[0] = n;
  const int i = int(threadIdx.x);
  if (blockIdx.x == 0 && i < n) pivots.interchanges.panel.sources[i] = s.row_of[i];
  if (start + i < min(n, end)) pivots.interchanges.panel.targets[start + i] = position[i];
  const int c = i % 32;
  for (int p = i / 32; p < n; p += tall_panel_threads / 32)
    if (c < n && has(s.row_of[p])) PackedL11<T>::store(packed_L11, p, c, A.data()[s.row_of[p] + c * A.ld()]);
}

/// P A = L U of at most tall_panel_columns columns, with the rows left where they were.
template <class T>
void factor_tall_in_place(Queue<Cuda>& q, const PanelInPlace<T>& panel) {
  const MatrixView<T, Cuda> A = panel.A;
  const std::int64_t blocks = std::min(cooperative_blocks(q), most_grid_blocks), height = ceil_div(A.rows(), blocks);
  launch(q, factor_tall_panel<T>, Blocks::cooperative, dim3(unsigned(blocks)), tall_panel_threads,
         sizeof(TallPanelShared<T>) + std::size_t(height) * sizeof(int), A, int(height), PanelPivots(panel.pivots),
         panel.packed_L11, channel_of(q, most_packet_bytes, unsigned(A.cols())));
}

}  // namespace lasolve
