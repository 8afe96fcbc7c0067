// Few right-hand sides: the triangle is read once, at memory speed.
//
// Unknowns are solved in blocks of 128, each by one thread block: it subtracts T(i, j) x(j) as each x(j) arrives, solves
// with its diagonal block and sends x(i) to all as letters. The next tile of T is already on its way while it waits. All
// blocks run at the same time, and each takes its rows in increasing order, so the first unfinished row never waits.
// Sums are in an order that does not depend on time.
//
// The chain from x(i) to x(i + 1) is what small triangles take: a letter, one product, and the diagonal block.
// Source: the stamped letters are NCCL's; waiting for single unknowns is as in Liu, Li, Hogg, Duff & Vinter, "A
// synchronization-free algorithm for parallel sparse triangular solves", 2016.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/cuda/flow_diagonal.cuh"
#include "solvers/cuda/mailbox.cuh"

namespace lasolve {

/// What a thread does for one right-hand side: it has rows row and row + 64 of a tile, in every eighth column.
template <class T, bool rows_are_contiguous>
class OneSide : public OneSideOfDiagonal<T> {
  static constexpr int parts = 8, rows = 2, apart = flow_order / rows, columns = flow_order / parts;
  static_assert(parts * apart == flow_threads);

 public:
  struct Shared {
    T partial[parts][flow_stride];
  };

  __device__ OneSide(const ForwardTriangle<T>& tri, std::int64_t start) {
#pragma unroll
    for (int r = 0; r < rows; ++r) from_[r] = tri.at(min(start + row() + r * apart, tri.order - 1), part());
  }
  __device__ void fetch_tile(const ForwardTriangle<T>& tri) {
    std::int64_t step = parts * tri.col_stride;
    forget(step);
#pragma unroll
    for (int k = 0; k < columns; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        tile_[r][k] = *from_[r];
        from_[r] += step;
      }
  }
  __device__ void multiply(const T (&x)[1][flow_stride]) {
#pragma unroll
    for (int k = 0; k < columns; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) sum_[r] += tile_[r][k] * x[0][part() + k * parts];
  }
  __device__ void subtract_from(T (&b)[1], Shared& s) {
#pragma unroll
    for (int r = 0; r < rows; ++r) s.partial[part()][row() + r * apart] = sum_[r];
    __syncthreads();
    T total = 0;
    if (this->has(0))
#pragma unroll
      for (int p = 0; p < parts; ++p) total += s.partial[p][this->unknown()];
    b[0] -= total;
  }

 private:
  __device__ static int row() { return rows_are_contiguous ? threadIdx.x % apart : threadIdx.x / parts; }
  __device__ static int part() { return rows_are_contiguous ? threadIdx.x / apart : threadIdx.x % parts; }

  const T* from_[rows];
  T tile_[rows][columns], sum_[rows] = {};
};

/// What a thread does for eight right-hand sides: a warp has eight rows of a tile, as operands for tensor cores.
template <class T>
class EightSides : public EightSidesOfDiagonal<T> {
  static constexpr int columns = flow_order / 4;

 public:
  struct Shared {};

  __device__ EightSides(const ForwardTriangle<T>& tri, std::int64_t start)
      : from_(tri.at(min(start + this->unknown(), tri.order - 1), threadIdx.x % 4)) {}
  __device__ void fetch_tile(const ForwardTriangle<T>& tri) {
    std::int64_t step = 4 * tri.col_stride;
    forget(step);
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      tile_[k] = *from_;
      from_ += step;
    }
  }
  __device__ void multiply(const double (&x)[8][flow_stride]) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < columns; ++k) multiply_8x8x4(sum_, double(tile_[k]), x[g][4 * k + t]);
  }
  __device__ void subtract_from(double (&b)[2], Shared&) { b[0] -= sum_[0], b[1] -= sum_[1]; }

 private:
  const T* from_;
  T tile_[columns];
  double sum_[2] = {};
};

/// B ← inv(T) B. Block (x, y) has the rows of blocks x, x + gridDim.x, … for the sides of group y.
template <class T, class Work>
__global__ void __launch_bounds__(flow_threads, 1)
    solve_dataflow(ForwardTriangle<T> tri, ForwardSides<T> sides, Letter* letters, unsigned stamp) {
  using Number = typename Work::Number;
  struct Shared {
    FlowDiagonal<T, Work> diagonal;
    Number x[2][Work::sides][flow_stride];  // of odd and even columns
    typename Work::Shared work;
  };
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<Shared*>(memory);
  const int blocks = int((tri.order + flow_order - 1) / flow_order);
  const std::int64_t first_side = std::int64_t(blockIdx.y) * Work::sides;
  letters += std::int64_t(blockIdx.y) * blocks * flow_order * Work::sides;
  for (int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::int64_t start = std::int64_t(block) * flow_order, i = start + Work::unknown();
    const auto there = [&](int u) { return Work::has(u) && i < tri.order && first_side + Work::side(u) < sides.count; };
    prepare_diagonal(tri, start, s.diagonal);
    Number mine[Work::values];
#pragma unroll
    for (int u = 0; u < Work::values; ++u) mine[u] = there(u) ? Number(*sides.at(i, first_side + Work::side(u))) : 0;
    Work work(tri, start);
    for (int j = 0; j < block; ++j) {
      work.fetch_tile(tri);
      auto& x = s.x[j % 2];
      const Letter* from = letters + std::int64_t(j) * flow_order * Work::sides;
      for (int e = threadIdx.x; e < flow_order * Work::sides; e += flow_threads)
        x[e % Work::sides][e / Work::sides] = from_bits<T>(collect(from + e, stamp));
      __syncthreads();
      work.multiply(x);
    }
    work.subtract_from(mine, s.work);
    Letter* to = letters + i * Work::sides;
    solve_diagonal(s.diagonal, tri.unit, work, mine, [&] {
#pragma unroll
      for (int u = 0; u < Work::values; ++u) {
        post(to + Work::side(u), bits_of(T(mine[u])), stamp);
        if (there(u)) *sides.at(i, first_side + Work::side(u)) = T(mine[u]);
      }
    });
  }
}

template <class T, class Work>
void launch_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr auto kernel = solve_dataflow<T, Work>;
  constexpr std::size_t shared = sizeof(FlowDiagonal<T, Work>) + sizeof(typename Work::Shared) +
                                 2 * Work::sides * flow_stride * sizeof(typename Work::Number);
  const std::int64_t rows = ceil_div(problem.triangle.order, flow_order);
  const std::int64_t groups = ceil_div(problem.sides.count, Work::sides);
  const std::int64_t at_once = std::min<std::int64_t>(groups, q.multiprocessors());
  for (std::int64_t g = 0; g < groups; g += at_once) {
    const std::int64_t now = std::min(at_once, groups - g);
    ForwardSides<T> sides = problem.sides;
    sides.data += g * Work::sides * sides.side_stride;
    sides.count -= g * Work::sides;
    const auto mail = q.mailbox(std::size_t(now * rows * flow_order * Work::sides) * sizeof(Letter), 1);
    const dim3 blocks(unsigned(std::min<std::int64_t>(rows, q.multiprocessors() / now)), unsigned(now));
    launch(q, kernel, Blocks::together, blocks, flow_threads, shared, problem.triangle, sides,
           static_cast<Letter*>(mail.memory), mail.stamp);
  }
}

template <class T>
void solve_by_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  if (problem.sides.count > 1)
    launch_dataflow<T, EightSides<T>>(q, problem);
  else if (problem.triangle.row_stride == 1 || problem.triangle.row_stride == -1)
    launch_dataflow<T, OneSide<T, true>>(q, problem);
  else
    launch_dataflow<T, OneSide<T, false>>(q, problem);
}

}  // namespace lasolve
