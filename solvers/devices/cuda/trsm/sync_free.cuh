// Triangular solves with few right-hand sides: synchronization-free. The triangle is read once, at memory speed.
//
// A solve with the second of two triangles begins while that with the first ends, with what needs no unknowns: it prepares diagonal
// blocks.
//
// A thread block solves for 128 unknowns, or 64. It subtracts T(i, j) x(j) as each x(j) arrives, solves with its
// diagonal block, or multiplies by its inverse, and sends x(i) to all as packets. The next tile of T is already on its way while it waits. Thread
// blocks draw rows in increasing order. So the first unfinished row has a thread block and never waits, however many
// run at the same time, and in whichever order they began. Sums are in an order that does not depend on time.
//
// In small triangles the chain from x(i) to x(i + 1) takes the time: a packet, one product, and the diagonal block.
// Source: packets as in NCCL; waiting for single unknowns as in Liu, Li, Hogg, Duff & Vinter, "A synchronization-free
// algorithm for parallel sparse triangular solves", 2016.
#pragma once

#include <type_traits>

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/devices/cuda/messages.cuh"
#include "solvers/devices/cuda/trsm/diagonal_block.cuh"

namespace lasolve {

/// An unknown of some right-hand sides.
template <class T, int nrhs>
struct alignas(nrhs * sizeof(T)) Few {
  T of[nrhs];
};

/// What a thread does for one right-hand side or four, of type R: it has a row of each half of a tile, in every eighth column.
template <class T, class Block, int nrhs, bool rows_are_contiguous, class R = T>
class FewRhs : public FewRhsOfDiagonal<T, Block, nrhs, R> {
  static constexpr int shares = 8, rows = 2, row_stride = Block::order / rows, columns = Block::order / shares;
  static_assert(shares * row_stride == Block::threads);

 public:
  static constexpr bool inverts_blocks = sizeof(T) == 4;  // registers keep the inverse until it is wanted
  using Given = R;
  using Unknowns = Few<R, nrhs>[Block::order];
  struct Shared {
    R partial[shares][nrhs][Block::stride];
  };

  __device__ FewRhs(const ForwardTriangle<T>& tri, std::int64_t start) {
#pragma unroll
    for (int r = 0; r < rows; ++r) from_[r] = tri.at(min(start + row() + r * row_stride, tri.order - 1), share());
  }
  __device__ static R& at(Unknowns& x, int i, int rhs) { return x[i].of[rhs]; }
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
  __device__ void multiply(const Unknowns& x) { add_product(tile_, x, share(), sum_); }
  __device__ void subtract_from(R (&b)[1], Shared& s) { b[0] -= total(sum_, row(), share(), s); }

  __device__ void fetch_inverse(const T* t) {
#pragma unroll
    for (int k = 0; k < columns; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int i = row_of_inverse() + r * row_stride, c = share_of_inverse() + k * shares;
        inverse_[r][k] = i >= c ? t[Block::place(i, c)] : T(0);
      }
  }
  /// x ← inverse times b. What others have is in `b`.
  __device__ void multiply_by_inverse(const Unknowns& b, R (&x)[1], Shared& s) {
    R sum[rows][nrhs] = {};
    add_product(inverse_, b, share_of_inverse(), sum);
    x[0] = total(sum, row_of_inverse(), share_of_inverse(), s);
  }

 private:
  __device__ static int row_of_inverse() { return threadIdx.x % row_stride; }
  __device__ static int share_of_inverse() { return threadIdx.x / row_stride; }
  __device__ static int row() { return rows_are_contiguous ? row_of_inverse() : threadIdx.x / shares; }
  __device__ static int share() { return rows_are_contiguous ? share_of_inverse() : threadIdx.x % shares; }

  __device__ static void add_product(const T (&t)[rows][columns], const Unknowns& x, int share, R (&sum)[rows][nrhs]) {
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      const Few<R, nrhs> its = x[share + k * shares];
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < nrhs; ++c) sum[r][c] += R(t[r][k]) * its.of[c];
    }
  }
  /// The sum of all shares for this thread's unknown.
  __device__ R total(const R (&sum)[rows][nrhs], int row, int share, Shared& s) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int c = 0; c < nrhs; ++c) s.partial[share][c][row + r * row_stride] = sum[r][c];
    __syncthreads();
    R total = 0;
    if (this->has(0))
#pragma unroll
      for (int p = 0; p < shares; ++p) total += s.partial[p][this->rhs(0)][this->unknown()];
    return total;
  }

  const T* from_[rows];
  T tile_[rows][columns], inverse_[rows][columns];
  R sum_[rows][nrhs] = {};
};

/// What a thread does for eight right-hand sides, of type R: a warp has eight rows of a tile, as operands for tensor cores.
template <class T, class Block, class R = T>
class EightRhs : public EightRhsOfDiagonal<T, Block> {
  static constexpr int columns = Block::order / 4;

 public:
  static constexpr bool inverts_blocks = false;  // products by fp64 tensor cores take as long as the parts
  using Given = R;
  using Unknowns = double[8][Block::stride];
  struct Shared {};

  __device__ EightRhs(const ForwardTriangle<T>& tri, std::int64_t start)
      : from_(tri.at(min(start + this->unknown(), tri.order - 1), threadIdx.x % 4)) {}
  __device__ static double& at(Unknowns& x, int i, int rhs) { return x[rhs][i]; }
  __device__ void fetch_tile(const ForwardTriangle<T>& tri) {
    std::int64_t step = 4 * tri.col_stride;
    forget(step);
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      tile_[k] = *from_;
      from_ += step;
    }
  }
  __device__ void multiply(const Unknowns& x) {
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
struct SyncFreeShared {
  DiagonalBlock<T, Work> diagonal;
  alignas(16) typename Work::Unknowns x[2];  // of odd and even columns
  typename Work::Shared work;
  unsigned ticket;
};

/// B ← inv(T) B. A ticket is for a row of blocks and a group of right-hand sides. With one beyond all of these a thread
/// block ends.
template <class T, class Work>
__global__ void __launch_bounds__(Work::threads, 1)
    solve_sync_free(ForwardTriangle<T> tri, RightHandSides<typename Work::Given> rhs, unsigned groups,
                    PacketChannel channel, unsigned* tickets) {
  using Number = typename Work::Number;
  using Given = typename Work::Given;
  constexpr int sync_free_order = Work::order, sync_free_threads = Work::threads;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<SyncFreeShared<T, Work>*>(memory);
  const unsigned blocks = unsigned((tri.order + sync_free_order - 1) / sync_free_order);
  bool received = true;
  if (!tri.ready) wait_for_prerequisites();
#pragma unroll 1
  for (;;) {
    if (threadIdx.x == 0) s.ticket = take_ticket(tickets, blocks * groups + gridDim.x);
    __syncthreads();
    const int block = int(Work::nrhs > 1 ? s.ticket / groups : s.ticket);
    const int group = int(Work::nrhs > 1 ? s.ticket % groups : 0);
    if (block >= int(blocks)) break;
    const std::int64_t start = std::int64_t(block) * sync_free_order, i = start + Work::unknown();
    const std::int64_t first_rhs = std::int64_t(group) * Work::nrhs;
    Packet* const packets = channel.packets + std::int64_t(group) * blocks * sync_free_order * Work::nrhs;
    const auto there = [&](int u) { return Work::has(u) && i < tri.order && first_rhs + Work::rhs(u) < rhs.count; };
    prepare_diagonal(tri, start, s.diagonal);
    wait_for_prerequisites();
    launch_dependents();
    Number mine[Work::values];
#pragma unroll
    for (int u = 0; u < Work::values; ++u) mine[u] = there(u) ? Number(rhs.given(i, first_rhs + Work::rhs(u))) : 0;
    Work work(tri, start);
    if constexpr (Work::inverts_blocks)
      if (s.diagonal.is_inverse) work.fetch_inverse(s.diagonal.triangle);
    for (int j = 0; j < block; ++j) {
      work.fetch_tile(tri);
      auto& x = s.x[j % 2];
      const Packet* from = packets + std::int64_t(j) * sync_free_order * Work::nrhs;
      for (int e = threadIdx.x; e < sync_free_order * Work::nrhs; e += sync_free_threads) {
        std::uint64_t content = 0;  // of a packet that does not arrive; nor do others then
        received = received && receive_packets<1>(from + e, channel.sequence, &content, channel.limit,
                                                  {Awaited::unknowns, unsigned(j), blocks});
        Work::at(x, e / Work::nrhs, e % Work::nrhs) = from_bits<Given>(content);
      }
      __syncthreads();
      work.multiply(x);
    }
    work.subtract_from(mine, s.work);
    Packet* to = packets + i * Work::nrhs;
    const auto done = [&] {
#pragma unroll
      for (int u = 0; u < Work::values; ++u) {
        send_packet(to + Work::rhs(u), bits_of(Given(mine[u])), channel.sequence);
        if (there(u)) *rhs.at(i, first_rhs + Work::rhs(u)) = Given(mine[u]);
      }
    };
    if constexpr (Work::inverts_blocks)
      if (s.diagonal.is_inverse) {
        auto& b = s.x[block % 2];
        if (Work::has(0)) Work::at(b, Work::unknown(), Work::rhs(0)) = mine[0];
        __syncthreads();
        work.multiply_by_inverse(b, mine, s.work);
        if (Work::has(0)) done();
        continue;
      }
    solve_by_parts(s.diagonal, tri.unit, work, mine, done);
  }
}

template <class T, class Work>
void launch_sync_free(Queue<Cuda>& q, const ForwardProblem<T, typename Work::Given>& problem) {
  constexpr auto kernel = solve_sync_free<T, Work>;
  constexpr int sync_free_order = Work::order, sync_free_threads = Work::threads;
  constexpr std::size_t shared = sizeof(SyncFreeShared<T, Work>);
  const std::int64_t rows = ceil_div(problem.triangle.order, sync_free_order);
  const std::int64_t groups = ceil_div(problem.rhs.count, Work::nrhs);
  const std::int64_t at_once = std::min<std::int64_t>(groups, q.multiprocessors());
  for (std::int64_t g = 0; g < groups; g += at_once) {
    const std::int64_t now = std::min(at_once, groups - g);
    RightHandSides<typename Work::Given> rhs = problem.rhs;
    rhs.data += g * Work::nrhs * rhs.rhs_stride, rhs.from += rhs.from ? g * Work::nrhs * rhs.from_stride : 0;
    rhs.count -= g * Work::nrhs;
    const PacketChannel channel =
        channel_of(q, std::size_t(now * rows * sync_free_order * Work::nrhs) * sizeof(Packet), 1);
    const dim3 blocks(unsigned(std::min<std::int64_t>(rows, q.multiprocessors() / now) * now));
    launch(q, kernel, Blocks::dependent, blocks, sync_free_threads, shared, problem.triangle, rhs, unsigned(now),
           channel, q.counter() + tickets_of_sync_free + channel.sequence % 2);
  }
}

/// With so many at once fp32 needs no tensor cores.
template <class T>
constexpr int few_rhs = sizeof(T) == 4 ? 4 : 1;

/// What the kernels for few right-hand sides and for eight need in blocks of an order.
template <class T, int order>
constexpr std::size_t sync_free_shared_memory =
    std::max(sizeof(SyncFreeShared<T, FewRhs<T, SyncFreeBlock<order>, few_rhs<T>, true>>),
             sizeof(SyncFreeShared<T, EightRhs<T, SyncFreeBlock<order>>>));

/// The unknowns of a block: 128 where it has the shared memory for them, and 64 everywhere else.
template <class T>
constexpr int sync_free_order(const DeviceProperties& device) {
  static_assert(sync_free_shared_memory<T, 64> <= least_shared_memory);
  return device.shared_memory >= sync_free_shared_memory<T, 128> ? 128 : 64;
}

template <class T, int order, int nrhs, class R>
void solve_for_few(Queue<Cuda>& q, const ForwardProblem<T, R>& problem) {
  using Block = SyncFreeBlock<order>;
  if (problem.triangle.row_stride == 1 || problem.triangle.row_stride == -1)
    launch_sync_free<T, FewRhs<T, Block, nrhs, true, R>>(q, problem);
  else
    launch_sync_free<T, FewRhs<T, Block, nrhs, false, R>>(q, problem);
}

template <class T, int order, class R>
void solve_by_sync_free(Queue<Cuda>& q, const ForwardProblem<T, R>& problem) {
  constexpr int few = std::is_same_v<T, R> ? few_rhs<T> : 1;
  if (problem.rhs.count == 1)
    solve_for_few<T, order, 1>(q, problem);
  else if (problem.rhs.count <= few)
    solve_for_few<T, order, few>(q, problem);
  else
    launch_sync_free<T, EightRhs<T, SyncFreeBlock<order>, R>>(q, problem);
}

template <class T, class R>
void solve_by_sync_free(Queue<Cuda>& q, const ForwardProblem<T, R>& problem) {
  if constexpr (sync_free_shared_memory < T, 128 >> least_shared_memory)
    if (sync_free_order<T>(q.properties()) == 64) return solve_by_sync_free<T, 64>(q, problem);
  solve_by_sync_free<T, 128>(q, problem);
}

}  // namespace lasolve
