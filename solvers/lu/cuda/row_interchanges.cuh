// Row interchanges on CUDA. Those of a panel are one permutation of few rows, which the panel's kernel has worked out.
// Those of several panels are combined into one, so that the rows of many columns are moved at once.
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/cuda/launch.cuh"
#include "core/transfer.hpp"
#include "solvers/devices/cuda/messages.cuh"
#include "solvers/kernel_limits.hpp"
#include "solvers/lu/pivots.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

/// The interchanges of rows i, i + 1, … with those behind, as a permutation counted from row i. Row k of the first gets
/// what row sources[k] held. What row k held goes to row targets[k].
struct RowPermutation {
  std::int64_t *sources, *targets;

  __host__ __device__ RowPermutation block(std::int64_t i) const { return {sources + i, targets + i}; }
};

/// What later interchanges do to each row. Row i goes to place later[i]. Row from[i] comes to place i.
struct LaterInterchanges {
  std::int64_t *later, *from;

  __host__ __device__ LaterInterchanges block(std::int64_t i) const { return {later + i, from + i}; }
};

/// The resources of a plan on CUDA that are about interchanges. `panel` belongs to each panel that one kernel factored;
/// counts[0] is the number of its rows. `combined` belongs to those that were combined at one time. rows[i] is the row that
/// has come to place i. later.from is workspace of combine() as well.
template <>
struct Interchanges<Cuda> {
  RowPermutation panel, combined;
  std::int64_t *counts, *rows;
  LaterInterchanges later;

  static constexpr std::int64_t columns = 8;
  explicit Interchanges(MatrixView<std::int64_t, Cuda> memory)
      : panel{column(memory, 0), column(memory, 1)},
        combined{column(memory, 2), column(memory, 3)},
        counts(column(memory, 4)),
        rows(column(memory, 5)),
        later{column(memory, 6), column(memory, 7)} {}
  __host__ __device__ Interchanges block(std::int64_t i) const {
    Interchanges there = *this;
    there.panel = panel.block(i), there.combined = combined.block(i), there.later = later.block(i);
    there.counts += i, there.rows += i;
    return there;
  }

 private:
  static std::int64_t* column(MatrixView<std::int64_t, Cuda> memory, int j) { return memory.columns(j, 1).data(); }
};

/// What the kernels of panels write: from pivots to counts, which are columns side by side. What is combined goes with it, and is combined
/// by the other card itself afterwards.
inline void send_interchanges(Queue<Cuda>& q, const Pivots<Cuda>& from, const Pivots<Cuda>& to) {
  const auto written = [](const Pivots<Cuda>& p) {
    const std::int64_t columns = 1 + (p.interchanges.counts - p.p.data()) / p.p.ld();
    return MatrixView<std::int64_t, Cuda>(p.p.data(), p.count(), columns, p.p.ld());
  };
  copy_from_card<std::int64_t>(q, written(from), written(to));
}

/// A ← P A for the interchanges of one panel. A thread has a row of the panel, its source and its target, in `columns`
/// columns. All reads come before all writes.
template <int columns, class T>
__global__ void __launch_bounds__(most_combined)
    move_rows(MatrixView<T, Cuda> A, RowPermutation permutation, int count) {
  const int i = int(threadIdx.x);
  const std::int64_t source = i < count ? permutation.sources[i] : i, target = i < count ? permutation.targets[i] : -1;
  T* at = A.data() + std::int64_t(blockIdx.x) * columns * A.ld();
  const int there = int(min(std::int64_t(columns), A.cols() - std::int64_t(blockIdx.x) * columns));
  T comes[columns], goes[columns];
#pragma unroll
  for (int j = 0; j < columns; ++j) {
    if (source != i && j < there) comes[j] = at[source + j * A.ld()];
    if (target >= count && j < there) goes[j] = at[i + j * A.ld()];
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < columns; ++j) {
    if (source != i && j < there) at[i + j * A.ld()] = comes[j];
    if (target >= count && j < there) at[target + j * A.ld()] = goes[j];
  }
}

template <int columns, class T>
void launch_interchange(Queue<Cuda>& q, MatrixView<T, Cuda> A, RowPermutation permutation, std::int64_t count) {
  const auto blocks = unsigned(ceil_div(A.cols(), columns)), threads = unsigned(round_up(count, 32));
  launch(q, move_rows<columns, T>, blocks, threads, A, permutation, int(count));
}

/// Row from[i] − first of A goes to row i. A row of blocks is a cluster, which has a column at a time, and reads all of
/// it before it writes any. Reads are scattered, because scattered writes take twice as long.
template <int rows, class T>
__global__ void __launch_bounds__(threads_to_gather)
    gather_rows(MatrixView<T, Cuda> A, const std::int64_t* from, std::int64_t first) {
  const std::int64_t i0 = std::int64_t(blockIdx.x) * blockDim.x * rows + threadIdx.x;
  int source[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = i0 + r * blockDim.x;
    source[r] = i < A.rows() ? int(from[i] - first) : -1;
  }
  for (std::int64_t j = blockIdx.y; j < A.cols(); j += gridDim.y) {
    T* column = A.data() + j * A.ld();
    T held[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (source[r] >= 0) held[r] = column[source[r]];
    cluster_barrier();
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (source[r] >= 0) column[i0 + r * blockDim.x] = held[r];
  }
}

template <class T>
void launch_gather(Queue<Cuda>& q, MatrixView<T, Cuda> A, const std::int64_t* from, std::int64_t first) {
  const std::int64_t blocks = blocks_to_gather(A.rows());
  const dim3 grid(unsigned(blocks), unsigned(std::min(A.cols(), ceil_div(q.multiprocessors(), blocks))));
  launch(q, gather_rows<rows_to_gather, T>, Blocks::cluster, grid, threads_to_gather, 0, A, from, first);
}

/// Whether the device has room for the blocks that hold a column of n rows. In fp32 they take less.
inline bool can_gather_rows(const Queue<Cuda>& q, std::int64_t n) {
  if (!may_gather_rows(q.properties(), n)) return false;
  const auto kernel = reinterpret_cast<const void*>(gather_rows<rows_to_gather, double>);
  return has_room_for_cluster(q, kernel, unsigned(blocks_to_gather(n)), threads_to_gather, 0);
}

/// A ← P A for what one kernel makes at once: the interchanges of a panel, those that were combined, or all later ones.
/// Row 0 of A is row pivots.start.
template <class T>
void interchange_rows(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots, Resource of) {
  if (A.empty()) return;
  const Interchanges<Cuda>& interchanges = pivots.interchanges;
  if (of == Resource::later) return launch_gather(q, A, interchanges.later.from, pivots.start);
  const RowPermutation permutation = of == Resource::permutations ? interchanges.combined : interchanges.panel;
  (pivots.count() > 256 ? launch_interchange<1, T> : launch_interchange<4, T>)(q, A, permutation, pivots.count());
}

/// Combines the interchanges of the panels from the first row of `panels` on, and applies them to `rows`. These panels
/// have as many columns together as there are threads. The first `unnumbered` of `rows` get their numbers before. One
/// block; a thread has a row.
/// Two permutations are combined at a time, A and then B. What A sends behind its rows, B may bring back or send on.
/// later.from[place] is the row that A sent there, if that is true.
static __global__ void __launch_bounds__(most_combined) combine(Interchanges<Cuda> panels, std::int64_t unnumbered) {
  __shared__ int sources[most_combined], targets[most_combined], chosen[most_panel_columns];
  const int i = int(threadIdx.x), count = int(blockDim.x);
  for (std::int64_t r = i; r < unnumbered; r += count) panels.rows[r] = r, panels.later.from[r] = 0;
  for (int first = 0; first < count;) {
    const Interchanges<Cuda> B = panels.block(first);
    const int end = first + int(B.counts[0]), k = i - first;
    const bool in_A = i < first, in_B = !in_A && i < end;
    const int source = in_B ? first + int(B.panel.sources[k]) : 0, target = in_B ? first + int(B.panel.targets[k]) : 0;
    __syncthreads();
    if (in_A && targets[i] >= first) panels.later.from[targets[i]] = i;
    if (in_B) chosen[k] = -1;
    __syncthreads();
    if (in_A && sources[i] >= first && sources[i] < end) chosen[sources[i] - first] = i;
    const bool moves_on = in_A && targets[i] >= first && targets[i] < end;
    const int on = moves_on ? first + int(B.panel.targets[targets[i] - first]) : 0;
    const int sent = in_B ? int(panels.later.from[source]) : 0;
    const bool brings_back = in_B && sent >= 0 && sent < first && targets[sent] == source;
    __syncthreads();
    if (moves_on) targets[i] = on;
    if (brings_back && source >= end) targets[sent] = i;
    if (in_B) sources[i] = brings_back ? sent : source, targets[i] = chosen[k] >= 0 ? chosen[k] : target;
    first = end;
  }
  __syncthreads();
  panels.combined.sources[i] = sources[i], panels.combined.targets[i] = targets[i];
  const std::int64_t comes = panels.rows[sources[i]], goes = panels.rows[i];
  __syncthreads();
  panels.rows[i] = comes;
  if (targets[i] >= count) panels.rows[targets[i]] = goes;
}

/// Makes the interchanges of some panels one permutation, and those of all panels so far `rows`. To be called once for each
/// panel, in their order.
inline void combine_interchanges(Queue<Cuda>& q, Pivots<Cuda> pivots) {
  launch(q, combine, 1, unsigned(pivots.count()), pivots.interchanges, pivots.start == 0 ? pivots.p.ld() : 0);
}

/// No later interchange has been seen, of n rows.
inline void begin_later_interchanges(Queue<Cuda>& q, Pivots<Cuda> pivots) {
  const LaterInterchanges later = pivots.interchanges.later;
  const std::int64_t start = pivots.start;
  for_each_element(q, MatrixView<std::int64_t, Cuda>(later.later, pivots.count(), 2, later.from - later.later),
                   [start] __device__(std::int64_t & to, std::int64_t i, std::int64_t) { to = start + i; });
}

/// Puts the interchanges of this panel, from row `start` on, before those of later panels. One block.
static __global__ void __launch_bounds__(most_combined)
    prepend(LaterInterchanges interchanges, std::int64_t start, RowPermutation permutation) {
  std::int64_t *later = interchanges.later, *from = interchanges.from;
  const int i = int(threadIdx.x), count = int(blockDim.x);
  const std::int64_t source = permutation.sources[i], target = permutation.targets[i], there = later[i],
                     then = later[target];
  __syncthreads();
  later[i] = then;
  from[i] = start + source;
  if (source >= count) later[source] = there;
  if (target >= count) from[then - start] = start + i;
}

/// Puts interchanges that were combined before those of later panels.
inline void prepend_interchanges(Queue<Cuda>& q, Pivots<Cuda> pivots) {
  launch(q, prepend, 1, unsigned(pivots.count()), pivots.interchanges.later, pivots.start,
         pivots.interchanges.combined);
}

/// The interchanges of a factorization that was made elsewhere, and the permutation that they make, which one thread follows: in shared
/// memory where there is room. One that is none is told as a failure.
static __global__ void follow(const std::int64_t* given, std::int64_t n, bool in_shared, std::int64_t* p,
                              std::int64_t* rows, std::int64_t* failed_at) {
  extern __shared__ int here[];
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x)
    p[i] = given[i], in_shared ? here[i] = int(i) : rows[i] = i;
  __syncthreads();
  for (std::int64_t k = 0; threadIdx.x == 0 && k < n; ++k) {
    const std::int64_t other = given[k];
    if (other < k || other >= n) {
      *failed_at = k;
      break;
    }
    if (in_shared) {
      const int row = here[k];
      here[k] = here[other], here[other] = row;
    } else {
      const std::int64_t row = rows[k];
      rows[k] = rows[other], rows[other] = row;
    }
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; in_shared && i < n; i += blockDim.x) rows[i] = here[i];
}

/// `given`: as Pivots::p.
inline void follow_interchanges(Queue<Cuda>& q, const std::int64_t* given, Pivots<Cuda> pivots) {
  const std::size_t shared = std::size_t(pivots.count()) * sizeof(int);
  const bool in_shared = shared <= q.shared_memory();
  launch(q, follow, Blocks::independent, dim3(1), 512u, in_shared ? shared : 0, given, pivots.count(), in_shared,
         pivots.p.data(), pivots.interchanges.rows, pivots.zero.data());
}

/// X ← P B, or Pᵀ B, in other memory. Row i of B by P is row rows[i].
template <class T>
void permute_to(Queue<Cuda>& q, const std::int64_t* rows, bool backward, MatrixView<const T, Cuda> B,
                MatrixView<T, Cuda> X) {
  for_each_element(q, X, [=] __device__(T & x, std::int64_t i, std::int64_t j) {
    if (backward)
      X.data()[rows[i] + j * X.ld()] = B.data()[i + j * B.ld()];
    else
      x = B.data()[rows[i] + j * B.ld()];
  });
}

/// X ← P B, or Pᵀ B, with the pivots of a finished factorization. X may be B.
template <class T>
void permute_rows(Queue<Cuda>& q, MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Pivots<Cuda> pivots,
                  bool backward) {
  if (X.empty()) return;
  const std::int64_t* rows = pivots.interchanges.rows;
  if (B.data() != X.data()) return permute_to(q, rows, backward, B, X);
  const std::int64_t chunk = std::max<std::int64_t>(1, (64 << 20) / (X.rows() * std::int64_t(sizeof(T))));
  for (std::int64_t j0 = 0; j0 < X.cols(); j0 += chunk) {
    const auto some = X.columns(j0, std::min(chunk, X.cols() - j0));
    const auto kept = q.scratch<T>(X.rows(), some.cols());
    permute_to<T>(q, rows, backward, some, kept);
    convert<T>(q, kept, some);
  }
}

}  // namespace lasolve
