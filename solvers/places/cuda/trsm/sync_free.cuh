// Few right-hand sides: the triangle is read once, at memory speed.
//
// Unknowns are solved in blocks of 128, or 64, each by one thread block: it subtracts T(i, j) x(j) as each x(j) arrives, solves
// with its diagonal block and sends x(i) to all as letters. The next tile of T is already on its way while it waits. Blocks of
// threads draw rows in increasing order, so the first unfinished row has one and never waits, however many of them run at the
// same time, and in whichever order they began. Sums are in an order that does not depend on time.
//
// The chain from x(i) to x(i + 1) is what small triangles take: a letter, one product, and the diagonal block.
// Source: the stamped letters are NCCL's; waiting for single unknowns is as in Liu, Li, Hogg, Duff & Vinter, "A
// synchronization-free algorithm for parallel sparse triangular solves", 2016.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/places/cuda/messages.cuh"
#include "solvers/places/cuda/trsm/diagonal_block.cuh"

namespace lasolve {

/// What a thread does for one right-hand side: it has a row of each half of a tile, in every eighth column.
template <class T, class Block, bool rows_are_contiguous>
class OneSide : public OneSideOfDiagonal<T, Block> {
  static constexpr int shares = 8, rows = 2, apart = Block::order / rows, columns = Block::order / shares;
  static_assert(shares * apart == Block::threads);

 public:
  struct Shared {
    T partial[shares][Block::stride];
  };

  __device__ OneSide(const ForwardTriangle<T>& tri, std::int64_t start) {
#pragma unroll
    for (int r = 0; r < rows; ++r) from_[r] = tri.at(min(start + row() + r * apart, tri.order - 1), share());
  }
  __device__ void fetch_tile(const ForwardTriangle<T>& tri) {
    std::int64_t step = shares * tri.col_stride;
    forget(step);
#pragma unroll
    for (int k = 0; k < columns; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        tile_[r][k] = *from_[r];
        from_[r] += step;
      }
  }
  __device__ void multiply(const T (&x)[1][Block::stride]) {
#pragma unroll
    for (int k = 0; k < columns; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) sum_[r] += tile_[r][k] * x[0][share() + k * shares];
  }
  __device__ void subtract_from(T (&b)[1], Shared& s) {
#pragma unroll
    for (int r = 0; r < rows; ++r) s.partial[share()][row() + r * apart] = sum_[r];
    __syncthreads();
    T total = 0;
    if (this->has(0))
#pragma unroll
      for (int p = 0; p < shares; ++p) total += s.partial[p][this->unknown()];
    b[0] -= total;
  }

 private:
  __device__ static int row() { return rows_are_contiguous ? threadIdx.x % apart : threadIdx.x / shares; }
  __device__ static int share() { return rows_are_contiguous ? threadIdx.x / apart : threadIdx.x % shares; }

  const T* from_[rows];
  T tile_[rows][columns], sum_[rows] = {};
};

/// What a thread does for eight right-hand sides: a warp has eight rows of a tile, as operands for tensor cores.
template <class T, class Block>
class EightSides : public EightSidesOfDiagonal<T, Block> {
  static constexpr int columns = Block::order / 4;

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
  __device__ void multiply(const double (&x)[8][Block::stride]) {
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

/// What the threads of a block share.
template <class T, class Work>
struct FlowShared {
  FlowDiagonal<T, Work> diagonal;
  typename Work::Number x[2][Work::sides][Work::stride];  // of odd and even columns
  typename Work::Shared work;
  unsigned ticket;
};

/// B ← inv(T) B. A ticket is for a row of blocks and a group of sides; one that is beyond all is for a block of threads to end.
template <class T, class Work>
__global__ void __launch_bounds__(Work::threads, 1)
    solve_dataflow(ForwardTriangle<T> tri, ForwardSides<T> sides, unsigned groups, Mail mail, unsigned* tickets) {
  using Number = typename Work::Number;
  constexpr int flow_order = Work::order, flow_threads = Work::threads;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<FlowShared<T, Work>*>(memory);
  const unsigned blocks = unsigned((tri.order + flow_order - 1) / flow_order);
  bool come = true;
#pragma unroll 1
  for (;;) {
    if (threadIdx.x == 0) s.ticket = take_ticket(tickets, blocks * groups + gridDim.x);
    __syncthreads();
    const int block = int(Work::sides > 1 ? s.ticket / groups : s.ticket);
    const int group = int(Work::sides > 1 ? s.ticket % groups : 0);
    if (block >= int(blocks)) break;
    const std::int64_t start = std::int64_t(block) * flow_order, i = start + Work::unknown();
    const std::int64_t first_side = std::int64_t(group) * Work::sides;
    Letter* const letters = mail.letters + std::int64_t(group) * blocks * flow_order * Work::sides;
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
      for (int e = threadIdx.x; e < flow_order * Work::sides; e += flow_threads) {
        std::uint64_t content = 0;  // of a letter that does not come; nor do others then
        come = come && collect<1>(from + e, mail.stamp, &content, mail.limit, {Awaited::unknowns, unsigned(j), blocks});
        x[e % Work::sides][e / Work::sides] = from_bits<T>(content);
      }
      __syncthreads();
      work.multiply(x);
    }
    work.subtract_from(mine, s.work);
    Letter* to = letters + i * Work::sides;
    solve_diagonal(s.diagonal, tri.unit, work, mine, [&] {
#pragma unroll
      for (int u = 0; u < Work::values; ++u) {
        post(to + Work::side(u), bits_of(T(mine[u])), mail.stamp);
        if (there(u)) *sides.at(i, first_side + Work::side(u)) = T(mine[u]);
      }
    });
  }
}

template <class T, class Work>
void launch_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr auto kernel = solve_dataflow<T, Work>;
  constexpr int flow_order = Work::order, flow_threads = Work::threads;
  constexpr std::size_t shared = sizeof(FlowShared<T, Work>);
  const std::int64_t rows = ceil_div(problem.triangle.order, flow_order);
  const std::int64_t groups = ceil_div(problem.sides.count, Work::sides);
  const std::int64_t at_once = std::min<std::int64_t>(groups, q.multiprocessors());
  for (std::int64_t g = 0; g < groups; g += at_once) {
    const std::int64_t now = std::min(at_once, groups - g);
    ForwardSides<T> sides = problem.sides;
    sides.data += g * Work::sides * sides.side_stride;
    sides.count -= g * Work::sides;
    const Mail mail = mail_of(q, std::size_t(now * rows * flow_order * Work::sides) * sizeof(Letter), 1);
    const dim3 blocks(unsigned(std::min<std::int64_t>(rows, q.multiprocessors() / now) * now));
    launch(q, kernel, Blocks::apart, blocks, flow_threads, shared, problem.triangle, sides, unsigned(now), mail,
           q.counter() + ticket_of_dataflow);
  }
}

/// What the kernels for one right-hand side and for eight need in blocks of an order.
template <class T, int order>
constexpr std::size_t flow_shared_memory = std::max(sizeof(FlowShared<T, OneSide<T, FlowBlock<order>, true>>),
                                                    sizeof(FlowShared<T, EightSides<T, FlowBlock<order>>>));

/// The unknowns of a block: 128 where it has the shared memory for them, and 64 everywhere else.
template <class T>
constexpr int flow_order(const DeviceProperties& device) {
  static_assert(flow_shared_memory<T, 64> <= least_shared_memory);
  return device.shared_memory >= flow_shared_memory<T, 128> ? 128 : 64;
}

template <class T, int order>
void solve_by_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  using Block = FlowBlock<order>;
  if (problem.sides.count > 1)
    launch_dataflow<T, EightSides<T, Block>>(q, problem);
  else if (problem.triangle.row_stride == 1 || problem.triangle.row_stride == -1)
    launch_dataflow<T, OneSide<T, Block, true>>(q, problem);
  else
    launch_dataflow<T, OneSide<T, Block, false>>(q, problem);
}

template <class T>
void solve_by_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  if constexpr (flow_shared_memory < T, 128 >> least_shared_memory)
    if (flow_order<T>(q.properties()) == 64) return solve_by_dataflow<T, 64>(q, problem);
  solve_by_dataflow<T, 128>(q, problem);
}

}  // namespace lasolve
