// tensor, f64: see tensor.cu.
#pragma once

#include "core/cuda/launch.cuh"
#include "gemm/cuda/ring.cuh"
#include "gemm/cuda/tile.cuh"

namespace lasolve::tensor_f64 {

constexpr int BK = 16;

/// warps_m × warps_n warps, each of which computes 16·MT × 8·NT of a tile; and one that copies.
template <int warps_m_, int warps_n_, int MT_, int NT_, int per_sm_, int flags_ = 0>
struct Shape {
  static constexpr int warps_m = warps_m_, warps_n = warps_n_, MT = MT_, NT = NT_, per_sm = per_sm_, KS = 8;
  static constexpr bool prefetch = flags_ & 1, pipe = flags_ & 2, hint = flags_ & 4, skew = flags_ & 8, direct = flags_ & 16, clocks = flags_ & 32;
  static constexpr int warps = warps_m * warps_n, copying = 128, threads = 32 * warps + copying;
  static constexpr int registers_at_first = 65536 / per_sm / threads / 8 * 8, registers_to_copy = 40;
  static constexpr int registers_to_compute =
      (registers_at_first * threads - registers_to_copy * copying) / (32 * warps) / 8 * 8;
  static constexpr int WM = 16 * MT, WN = 8 * NT, BM = WM * warps_m, BN = WN * warps_n;
  static constexpr int a_bytes = BM * BK * 8, b_bytes = BN * BK * 8, c_bytes = BM * WN * 8;
  static constexpr int slot_bytes = a_bytes + b_bytes;
  static_assert(NT % 2 == 0 && c_bytes <= slot_bytes && slot_bytes % 1024 == 0 && a_bytes % 1024 == 0);
};

/// Tiles of C in the order in which they are computed: down `group` rows of tiles, then one column on. Blocks are given
/// fewer and fewer tiles: a block that has several brings the next while it computes one, and those that have one come
/// last and make the load even. None has so many that a kernel of higher priority waits long for its place.
struct Order {
  int down, across, group, lanes, most;

  struct Share {
    int first, count;
  };
  __host__ __device__ int tiles() const { return down * across; }
  /// How many tiles the blocks have for which `left` are left.
  __host__ __device__ int depth(int left) const {
    const int fair = left / (2 * lanes);
    return fair < 1 ? 1 : fair < most ? fair : most;
  }
  __device__ Share share(int block) const {
    int first = 0;
    for (;; block -= lanes) {
      const int left = tiles() - first, d = depth(left), end = first + d * lanes;
      if (block < lanes) {
        const int stop = end < tiles() ? end : tiles();
        return {first + block, (stop - first - block + lanes - 1) / lanes};
      }
      first = end;
    }
  }
  int blocks() const {
    int sum = 0;
    for (int left = tiles(); left > 0; left -= depth(left) * lanes) sum += std::min(left, lanes);
    return sum;
  }
  struct Tile {
    int i, j;
  };
  __device__ Tile tile(int t) const {
    const int whole = group * across, g = t / whole, rest = t - g * whole;
    const int rows = g * group + group <= down ? group : down - g * group;
    return {g * group + rest % rows, rest / rows};
  }
};

/// A product, as the kernel is given it.
struct Work {
  CUtensorMap a_map, b_map, c_map;
  BoxSource A, B;
  MatrixView<double, Cuda> C;
  double alpha, beta;
  int steps, slots, doubles, skew;
  long long* debug;  // doubles: of a piece that the copying warp copies; 0: the copy engine does
  Order order;
};

__device__ inline void multiply(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
  for (int v = 0; v < 2; ++v)
    for (int h = 0; h < 2; ++h)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                   : "d"(a[2 * v + h]), "d"(b[v]));
#endif
}

/// Which rows, columns and steps of a tile a lane has. With g = lane / 4 and t = lane % 4, the tensor core's lane has rows
/// g and g + 8 of A, column g of B, steps t and t + 4 of both, and columns 2t and 2t + 1 of C. Which rows, columns and
/// steps of the matrices these are is ours to choose: so that what a lane has is neighbours in memory, 16 bytes, and what
/// 8 lanes read at a time is in different banks.
template <Op op_a, Op op_b>
struct Lane {
  int g, t;
  __device__ Lane() : g(int(threadIdx.x) % 32 / 4), t(int(threadIdx.x) % 4) {}

  /// Rows g and g + 8 of the tensor core are rows 2·pair and 2·pair + 1 of 16.
  __device__ int pair() const { return op_a == Op::none ? g : (g & 4) | (g & 1) << 1 | (g >> 1 & 1); }
  /// Column s of the tensor core, in its j-th tile of 8 columns, is this column.
  __device__ static int column(int j, int s) {
    if constexpr (op_b == Op::none)
      return 8 * j + (s ^ (s & 1) << 2);
    else
      return 16 * (j / 2) + 2 * (s ^ s >> 2) + j % 2;
  }
};

__device__ inline double2 piece(unsigned box, int line, int p) {
  double2 v;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];"
      : "=d"(v.x), "=d"(v.y)
      : "r"(box + unsigned(line) * line_bytes + (unsigned(p ^ (line & 7)) << 4)));
  return v;
}

/// A warp's fragments of A and B for eight steps: steps t and t + 4 of the tensor core are 2t and 2t + 1 of the eight.
template <class S, Op op>
__device__ void load_a(double (&a)[4], unsigned slot, int wm, int i, int eight) {
  const Lane<op, Op::none> lane;
#pragma unroll
  for (int x = 0; x < 2; ++x)
    if constexpr (op == Op::none) {  // lines are columns of A, in groups of 16 rows
      const unsigned group = slot + unsigned(wm * S::MT + i) * BK * line_bytes;
      const double2 v = piece(group, 2 * lane.t + x + 8 * eight, lane.pair());
      a[2 * x] = v.x, a[2 * x + 1] = v.y;
    } else {  // lines are rows of A
      const double2 v = piece(slot, wm * S::WM + 16 * i + 2 * lane.pair() + x, lane.t + 4 * eight);
      a[x] = v.x, a[2 + x] = v.y;
    }
}
template <class S, Op op>
__device__ void load_b(double (&b)[S::NT][2], unsigned slot, int wn, int eight) {
  const Lane<Op::none, op> lane;
  const unsigned B = slot + S::a_bytes;
#pragma unroll
  for (int j = 0; j < S::NT; ++j)
    if constexpr (op == Op::none) {  // lines are columns of B
      const double2 v = piece(B, wn * S::WN + lane.column(j, lane.g), lane.t + 4 * eight);
      b[j][0] = v.x, b[j][1] = v.y;
    } else if (j % 2 == 0) {  // lines are rows of B, in groups of 16 columns
      const unsigned group = B + unsigned(wn * S::NT / 2 + j / 2) * BK * line_bytes;
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const double2 w = piece(group, 2 * lane.t + v + 8 * eight, lane.column(0, lane.g) / 2);
        b[j][v] = w.x, b[j + 1][v] = w.y;
      }
    }
}

template <class S>
using Sums = double[S::MT][S::NT][4];

/// sum += A·B of all steps of a tile.
template <class S, Op op_a, Op op_b>
__device__ void multiply_steps(Sums<S>& sum, Cursor& at, int steps, int slots, unsigned ring, int wm, int wn, Barrier* full,
                               Barrier* empty) {
  if (steps == 0) return;
  double a[S::MT][4], b[2][S::NT][2];
  const auto row = [&](int i, int half) {
#pragma unroll
    for (int j = 0; j < S::NT; ++j) multiply(sum[i][j], a[i], b[half][j]);
  };
  const auto leave = [&](int slot) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) empty[slot].arrive();
  };
  if constexpr (!S::pipe) {
    for (int l = 0; l < steps; ++l) {
      full[at.slot].wait(at.parity);
      const unsigned slot = ring + at.slot * S::slot_bytes;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        load_b<S, op_b>(b[half], slot, wn, half);
#pragma unroll
        for (int i = 0; i < S::MT; ++i) load_a<S, op_a>(a[i], slot, wm, i, half);
        if (half == 1) leave(at.slot);
#pragma unroll
        for (int i = 0; i < S::MT; ++i) row(i, half);
      }
      at.next(slots);
    }
    return;
  }
  full[at.slot].wait(at.parity);
  unsigned slot = ring + at.slot * S::slot_bytes;
  load_b<S, op_b>(b[0], slot, wn, 0);
#pragma unroll
  for (int i = 0; i < S::MT; ++i) load_a<S, op_a>(a[i], slot, wm, i, 0);
  for (int l = 0; l < steps; ++l) {
    load_b<S, op_b>(b[1], slot, wn, 1);
#pragma unroll
    for (int i = 0; i < S::MT; ++i) {
      row(i, 0);
      load_a<S, op_a>(a[i], slot, wm, i, 1);
    }
    leave(at.slot);
    at.next(slots);
    if (l + 1 < steps) {
      full[at.slot].wait(at.parity);
      slot = ring + at.slot * S::slot_bytes;
      load_b<S, op_b>(b[0], slot, wn, 0);
#pragma unroll
      for (int i = 0; i < S::MT; ++i) {
        row(i, 1);
        load_a<S, op_a>(a[i], slot, wm, i, 0);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < S::MT; ++i) row(i, 1);
}

/// C ← α·sum + β·C for a warp's part of the tile, whose first element is (i, j). `slot`: the tile's columns of C that are
/// this warp's, where β ≠ 0.
template <class S, Op op_a, Op op_b>
__device__ void finish(const Sums<S>& sum, const Work& w, std::int64_t i, std::int64_t j, int wm, unsigned slot) {
  const Lane<op_a, op_b> lane;
  const int row = wm * S::WM + 2 * lane.pair();
  const bool inside = w.doubles != 1 && i + S::BM <= w.C.rows() && j + S::WN <= w.C.cols();
#pragma unroll
  for (int y = 0; y < S::NT; ++y) {
    double2 v[2][S::MT], old[2][S::MT];
    if (S::direct && slot)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int64_t column = j + lane.column(y, 2 * lane.t + e);
        const double* from = w.C.data() + i + row + column * w.C.ld();
#pragma unroll
        for (int x = 0; x < S::MT; ++x)
          if (inside) {
            if constexpr (S::hint)
              old[e][x] = __ldcs(reinterpret_cast<const double2*>(from + 16 * x));
            else
              old[e][x] = *reinterpret_cast<const double2*>(from + 16 * x);
          } else {
            old[e][x] = {0, 0};
            if (column < w.C.cols() && i + row + 16 * x < w.C.rows()) old[e][x].x = from[16 * x];
            if (column < w.C.cols() && i + row + 16 * x + 1 < w.C.rows()) old[e][x].y = from[16 * x + 1];
          }
      }
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int x = 0; x < S::MT; ++x) {
        double2 c = {0, 0};
        if (S::direct)
          c = old[e][x];
        else if (slot)
          c = piece(slot + unsigned(wm * S::MT + x) * S::WN * line_bytes, lane.column(y, 2 * lane.t + e), lane.pair());
        v[e][x] = {w.alpha * sum[x][y][e], w.alpha * sum[x][y][2 + e]};
        if (slot) v[e][x] = {v[e][x].x + w.beta * c.x, v[e][x].y + w.beta * c.y};
      }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::int64_t column = j + lane.column(y, 2 * lane.t + e);
      double* to = w.C.data() + i + row + column * w.C.ld();
#pragma unroll
      for (int x = 0; x < S::MT; ++x)
        if (inside) {
          if constexpr (S::hint)
            __stcs(reinterpret_cast<double2*>(to + 16 * x), v[e][x]);
          else
            *reinterpret_cast<double2*>(to + 16 * x) = v[e][x];
        } else if (column < w.C.cols()) {
          if (i + row + 16 * x < w.C.rows()) to[16 * x] = v[e][x].x;
          if (i + row + 16 * x + 1 < w.C.rows()) to[16 * x + 1] = v[e][x].y;
        }
    }
  }
}

/// The copying warp: the steps of each tile, and then the tile of C by the columns of a warp at a time.
template <class S, Op op_a, Op op_b>
__device__ void bring(const Work& w, const Order::Share& share, unsigned ring, Barrier* full, Barrier* empty) {
  Cursor at;
  const bool engine = w.doubles == 0;
  if (engine && threadIdx.x % S::copying != 0) return;
  if (S::skew && int(blockIdx.x) < w.order.lanes) __nanosleep((blockIdx.x * 2654435761u >> 28) * w.skew / 16);
  const auto box = [&](const BoxSource& X, const CUtensorMap& map, std::int64_t i, std::int64_t j, int groups, int outer,
                       unsigned to) {
    if (engine)
      fetch_box(map, i, j, groups, outer, to, full[at.slot]);
    else if (w.doubles == 2)
      copy_box<2, S::copying>(X, i, j, groups, outer, to);
    else
      copy_box<1, S::copying>(X, i, j, groups, outer, to);
  };
  const auto begin = [&](unsigned bytes) {
    empty[at.slot].wait(at.parity ^ 1);
    if (engine) full[at.slot].arrive_and_expect(bytes);
  };
  const auto end = [&] {
    if (!engine) full[at.slot].arrive_after_copies();
    at.next(w.slots);
  };
  const BoxSource C{w.C.data(), w.C.ld(), w.C.rows(), w.C.cols()};
  for (int n = 0; n < share.count; ++n) {
    const Order::Tile tile = w.order.tile(share.first + n * w.order.lanes);
    const std::int64_t i = std::int64_t(tile.i) * S::BM, j = std::int64_t(tile.j) * S::BN;
    for (int l = 0; l < w.steps; ++l) {
      const unsigned slot = ring + at.slot * S::slot_bytes;
      begin(S::slot_bytes);
      if constexpr (op_a == Op::none)
        box(w.A, w.a_map, i, std::int64_t(l) * BK, S::BM / line_doubles, BK, slot);
      else
        box(w.A, w.a_map, std::int64_t(l) * BK, i, 1, S::BM, slot);
      if constexpr (op_b == Op::none)
        box(w.B, w.b_map, std::int64_t(l) * BK, j, 1, S::BN, slot + S::a_bytes);
      else
        box(w.B, w.b_map, j, std::int64_t(l) * BK, S::BN / line_doubles, BK, slot + S::a_bytes);
      end();
    }
    if (w.beta != 0 && !S::direct)
      for (int part = 0; part < S::warps_n; ++part) {
        begin(S::c_bytes);
        if (S::hint && engine)
          fetch_box_once(w.c_map, i, j + part * S::WN, S::BM / line_doubles, S::WN, ring + at.slot * S::slot_bytes,
                         full[at.slot]);
        else
          box(C, w.c_map, i, j + part * S::WN, S::BM / line_doubles, S::WN, ring + at.slot * S::slot_bytes);
        end();
      }
  }
}

template <class S, Op op_a, Op op_b>
__device__ void compute(const Work& w, const Order::Share& share, unsigned ring, Barrier* full, Barrier* empty) {
  const int warp = threadIdx.x / 32, wm = warp % S::warps_m, wn = warp / S::warps_m;
  Cursor at;
  for (int n = 0; n < share.count; ++n) {
    const Order::Tile tile = w.order.tile(share.first + n * w.order.lanes);
    const std::int64_t i = std::int64_t(tile.i) * S::BM, j = std::int64_t(tile.j) * S::BN + wn * S::WN;
    Sums<S> sum = {};
    const auto stamp = [&](int what) {
      if constexpr (S::clocks)
        if (threadIdx.x % 32 == 0 && n < 8 && blockIdx.x < 264) w.debug[((blockIdx.x * 8 + n) * 8 + warp) * 4 + what] = clock64();
    };
    stamp(0);
    multiply_steps<S, op_a, op_b>(sum, at, w.steps, w.slots, ring, wm, wn, full, empty);
    stamp(1);
    if (w.beta == 0 || S::direct) {
      finish<S, op_a, op_b>(sum, w, i, j, wm, w.beta != 0);
      continue;
    }
    for (int part = 0; part < S::warps_n; ++part) {
      full[at.slot].wait(at.parity);
      if (part == wn) {
        stamp(2);
        finish<S, op_a, op_b>(sum, w, i, j, wm, ring + at.slot * S::slot_bytes);
        __syncwarp();
        stamp(3);
      }
      if (threadIdx.x % 32 == 0) empty[at.slot].arrive();
      at.next(w.slots);
    }
  }
}

/// Warps that copy leave registers to those that compute.
template <int registers, bool more>
__device__ void set_registers() {
#if __CUDA_ARCH__ >= 900 && defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (more)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
  else
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

template <class S, Op op_a, Op op_b>
__global__ void __launch_bounds__(S::threads, S::per_sm) product_kernel(const __grid_constant__ Work w) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Barrier* full = reinterpret_cast<Barrier*>(shared + std::size_t(w.slots) * S::slot_bytes);
  Barrier* empty = full + w.slots;
  if (threadIdx.x == 0) {
    for (int s = 0; s < w.slots; ++s) full[s].begin(w.doubles == 0 ? 1 : S::copying), empty[s].begin(S::warps);
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __syncthreads();
  const Order::Share share = w.order.share(blockIdx.x);
  if (threadIdx.x / 32 >= S::warps) {
    set_registers<S::registers_to_copy, false>();
    bring<S, op_a, op_b>(w, share, shared_address(shared), full, empty);
  } else {
    set_registers<S::registers_to_compute, true>();
    compute<S, op_a, op_b>(w, share, shared_address(shared), full, empty);
  }
}

struct Tuning {
  int slots = 0, group = 12, most = 8, doubles = -1, skew = 2000;
  long long* debug = nullptr;
};

template <class S, Op op_a, Op op_b>
void run(Queue<Cuda>& q, double alpha, Operand<double, Cuda> A, Operand<double, Cuda> B, double beta,
         MatrixView<double, Cuda> C, Tuning tuning = {}) {
  const auto source = [](MatrixView<const double, Cuda> x) { return BoxSource{x.data(), x.ld(), x.rows(), x.cols()}; };
  Work w{};
  w.A = source(A.stored()), w.B = source(B.stored()), w.C = C, w.alpha = alpha, w.beta = beta;
  w.steps = int(ceil_div(A.cols(), BK));
  w.skew = tuning.skew, w.debug = tuning.debug;
  const BoxSource c = source(C);
  const bool fetchable = (w.steps == 0 || (is_fetchable(w.A) && is_fetchable(w.B))) && is_fetchable(c);
  w.doubles = !fetchable ? 1 : q.has_clusters() ? 0 : 2;
  if (fetchable && tuning.doubles > w.doubles) w.doubles = tuning.doubles;
  if (w.doubles == 0) {
    if (w.steps > 0) w.a_map = box_map(w.A, op_a == Op::none ? BK : S::BM);
    if (w.steps > 0) w.b_map = box_map(w.B, op_b == Op::none ? S::BN : BK);
    w.c_map = box_map(c, S::WN);
  }
  const std::size_t slot = S::slot_bytes + 2 * sizeof(Barrier), room = q.shared_memory() / S::per_sm - 1024 * (S::per_sm > 1);
  w.slots = int(std::min<std::size_t>(room / slot, tuning.slots ? tuning.slots : 16));
  w.order = {int(ceil_div(C.rows(), S::BM)), int(ceil_div(C.cols(), S::BN)), tuning.group,
             q.multiprocessors() * S::per_sm, tuning.most};
  launch(q, product_kernel<S, op_a, op_b>, Blocks::apart, dim3(unsigned(w.order.blocks())), S::threads, slot * w.slots, w);
}

}  // namespace lasolve::tensor_f64
