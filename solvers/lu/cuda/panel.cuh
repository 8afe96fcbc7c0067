// A panel of LU in registers: m × n, n ≤ 128, m ≤ 1024 for each block of a grid. One kernel factors it, sub-panel by
// sub-panel; taller ones are for tall_panel.cuh. Rows are left in their places: the interchanges of the panel are made
// afterwards, like all others.
#pragma once

#include <algorithm>
#include <bit>

#include "core/cuda/launch.cuh"
#include "solvers/lu/cuda/packed_L11.cuh"
#include "solvers/lu/cuda/solve_behind.cuh"
#include "solvers/lu/cuda/subpanel.cuh"
#include "solvers/lu/cuda/tall_panel.cuh"
#include "solvers/lu/cuda/tournament.cuh"

namespace lasolve {

/// P A = L U with the rows of L and U left where they were; `pivots` gets the interchanges, and the permutation that
/// they make. All blocks must run at the same time.
template <class Shape, class PivotSearch>
__global__ void __launch_bounds__(Shape::threads, 1)
    factor_panel(MatrixView<typename Shape::Element, Cuda> A, int height, PanelPivots pivots,
                 typename Shape::Element* packed_L11, PacketChannel channel) {
  using T = typename Shape::Element;
  constexpr int W = Shape::columns, R = Shape::rows;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<PanelShared<Shape, PivotSearch>*>(memory);
  const int n = int(A.cols());
  SubPanel<Shape> sub_panel(height, A.rows());
  if (threadIdx.x < W) s.sub_panel.rows[0][threadIdx.x] = 0;
  s.sub_panel.search.init(channel);
  wait_for_prerequisites();
  if constexpr (PivotSearch::may_end_early)
    for (int r = 0; r < R; ++r) pivots.begin(n, sub_panel.row(r), sub_panel.end(A.rows()));
#pragma unroll 1
  for (int k = 0; k < n; k += W) {
    const auto columns = A.columns(k, min(W, n - k));
    sub_panel.load(A, k, s.U, s.staging);
    sub_panel.factor(s.sub_panel, columns, k);
    s.sub_panel.search.barrier();  // L is there; and no block ends while others write into its memory
    sub_panel.store(s.sub_panel, columns, pivots, k, s.row_of);
    if constexpr (W < Shape::widest)
      if (k + W < n) gather_pivot_rows<Shape>(s, A, k), solve_behind<Shape>(s, A, k, packed_L11);
  }
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) pivots.interchanges.counts[0] = n;
  if (blockIdx.x == 0 && threadIdx.x < n) pivots.interchanges.panel.sources[threadIdx.x] = s.row_of[threadIdx.x];
#pragma unroll
  for (int r = 0; r < R; ++r)
    if (sub_panel.row(r) < min(n, sub_panel.end(A.rows())))
      pivots.interchanges.panel.targets[sub_panel.row(r)] = sub_panel.position[r];
  write_pivot_rows<Shape>(s, A, packed_L11, [&](int row) { return sub_panel.has(row); });
}

/// What a block of a panel of one shape needs.
template <class T, PanelSize size, template <class> class PivotSearch>
constexpr std::size_t memory_of_panel = sizeof(PanelShared<PanelShape<T, size>, PivotSearch<PanelShape<T, size>>>);

template <class T, PanelSize size, template <class> class PivotSearch>
void launch_panel(Queue<Cuda>& q, const PanelInPlace<T>& panel, Blocks how, unsigned blocks, std::size_t shared) {
  using Shape = PanelShape<T, size>;
  // A row for a lane of each warp; all blocks have as many, because each fetches at a rate of its own.
  const MatrixView<T, Cuda> A = panel.A;
  const int height = int((A.rows() + 32 * blocks - 1) / (32 * blocks) * 32);
  const PacketChannel channel =
      PivotSearch<Shape>::may_end_early ? channel_of(q, most_packet_bytes, unsigned(A.cols())) : PacketChannel{};
  launch(q, factor_panel<Shape, PivotSearch<Shape>>, how, dim3(blocks), Shape::threads, shared, A, height,
         PanelPivots(panel.pivots), panel.packed_L11, channel);
}

/// By as many blocks as A needs.
template <class T, PanelSize size, template <class> class PivotSearch>
void launch_panel(Queue<Cuda>& q, const PanelInPlace<T>& panel, Blocks how) {
  using Shape = PanelShape<T, size>;
  launch_panel<T, size, PivotSearch>(q, panel, how, unsigned(ceil_div(panel.A.rows(), Shape::rows_a_block)),
                                     memory_of_panel<T, size, PivotSearch>);
}

/// By a cluster of some blocks, a power of two, if the device has room for one of so many; and whether it has.
template <class T, PanelSize size>
bool launch_panel_as_cluster(Queue<Cuda>& q, const PanelInPlace<T>& panel) {
  using Shape = PanelShape<T, size>;
  using PivotSearch = ClusterPivotSearch<Shape>;
  const std::int64_t m = panel.A.rows();
  if (m > most_cluster_blocks * Shape::rows_a_block) return false;
  const auto blocks = std::bit_ceil(unsigned(ceil_div(m, Shape::rows_a_block)));
  // In fp32 a block leaves no room on its multiprocessor for others: beside them it would take three times as long.
  // Blocks in fp64 would wait too long for that much room.
  constexpr std::size_t needed = memory_of_panel<T, size, ClusterPivotSearch>;
  const std::size_t shared = std::max(needed, sizeof(T) == 4 ? q.shared_memory() : 0);
  const auto kernel = reinterpret_cast<const void*>(factor_panel<Shape, PivotSearch>);
  if (blocks == 1 || !has_room_for_cluster(q, kernel, blocks, Shape::threads, shared)) return false;
  launch_panel<T, size, ClusterPivotSearch>(q, panel, Blocks::dependent | Blocks::cluster, blocks, shared);
  return true;
}

inline std::int64_t most_rows_in_registers(const Queue<Cuda>& q) { return most_rows_in_registers(q.properties()); }

/// The panels that registers hold, of at most `widest` columns. The more rows a thread has, the fewer columns of them.
template <class T, int widest = most_panel_columns>
struct PanelSizes {
  /// In fp32 a thread has room for a whole row.
  static constexpr int W = sizeof(T) == 4 && widest == most_panel_columns ? most_panel_columns : 32;
  static constexpr PanelSize small_blocks{.threads = 128, .rows = 1, .columns = W, .widest = widest};
  static constexpr PanelSize one_row{.threads = 256, .rows = 1, .columns = W, .widest = widest};
  static constexpr PanelSize two_rows{.threads = 256, .rows = 2, .columns = 32, .widest = widest};
  static constexpr PanelSize four_rows{.threads = 256, .rows = 4, .columns = 16, .widest = widest};
  static_assert(PanelShape<T, four_rows>::rows_a_block == most_panel_rows_of_a_block);
};

/// What factor_in_place needs for panels of at most so many columns. Clusters are only taken where there is room for them.
template <class T, int widest, class Sizes = PanelSizes<T, widest>>
constexpr std::size_t panel_shared_memory = std::max({memory_of_panel<T, Sizes::one_row, BlockPivotSearch>,
                                                      memory_of_panel<T, Sizes::two_rows, GridPivotSearch>,
                                                      memory_of_panel<T, Sizes::four_rows, GridPivotSearch>});

template <class T>
constexpr int widest_panel(const DeviceProperties& device) {
  static_assert(panel_shared_memory<T, most_panel_columns> == shared_memory_of_widest_panel(precision_of<T>));
  static_assert(panel_shared_memory<T, most_panel_columns / 2> <= least_shared_memory);
  return widest_panel(device, precision_of<T>);
}
template <class T>
std::int64_t widest_panel(const Queue<Cuda>& q) {
  return widest_panel<T>(q.properties());
}

/// Whether a panel of m rows is factored by a tournament, where that is asked for: others would be slower by it.
inline bool is_by_tournament(const Queue<Cuda>& q, std::int64_t m, Pivoting pivoting) {
  return pivoting == Pivoting::tournament && m > std::min(q.tuning().lu_tournament_rows, most_rows_in_registers(q));
}

/// P A = L U of at most widest_panel columns, or, not by a tournament, tall_panel_columns if registers do not hold its rows; these are left
/// where they were.
template <class T>
void factor_in_place(Queue<Cuda>& q, const PanelInPlace<T>& panel, Pivoting pivoting) {
  if (is_by_tournament(q, panel.A.rows(), pivoting)) {
    if constexpr (sizeof(T) == 8)
      if (constexpr int half = most_panel_columns / 2; widest_panel<T>(q) == half)
        return factor_by_tournament<T, half>(q, panel);
    return factor_by_tournament<T, most_panel_columns>(q, panel);
  }
  const std::int64_t m = panel.A.rows(), grid = std::min(cooperative_blocks(q), most_grid_blocks);
  if constexpr (sizeof(T) == 8)
    if (constexpr int half = most_panel_columns / 2; widest_panel<T>(q) == half) {
      using Sizes = PanelSizes<T, half>;
      if (m <= 256) return launch_panel<T, Sizes::one_row, BlockPivotSearch>(q, panel, Blocks::dependent);
      if (m <= 512 * grid) return launch_panel<T, Sizes::two_rows, GridPivotSearch>(q, panel, Blocks::cooperative);
      if (m <= most_rows_in_registers(q))
        return launch_panel<T, Sizes::four_rows, GridPivotSearch>(q, panel, Blocks::cooperative);
    }
  using Sizes = PanelSizes<T>;
  if (m <= 256) return launch_panel<T, Sizes::one_row, BlockPivotSearch>(q, panel, Blocks::dependent);
  if (launch_panel_as_cluster<T, Sizes::small_blocks>(q, panel)) return;
  if (launch_panel_as_cluster<T, Sizes::one_row>(q, panel)) return;
  if (launch_panel_as_cluster<T, Sizes::two_rows>(q, panel)) return;
  // Taller panels are hidden behind updates, which want the multiprocessors: fewer of them for a little longer.
  if (launch_panel_as_cluster<T, Sizes::four_rows>(q, panel)) return;
  if (!q.has_clusters() && m <= 512 * grid)
    return launch_panel<T, Sizes::two_rows, GridPivotSearch>(q, panel, Blocks::cooperative);
  if (m <= most_rows_in_registers(q))
    return launch_panel<T, Sizes::four_rows, GridPivotSearch>(q, panel, Blocks::cooperative);
  factor_tall_in_place(q, panel);
}

}  // namespace lasolve
