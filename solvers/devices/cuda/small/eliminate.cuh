// P A = L U or A = L D Lᵀ of a small matrix, by one block of threads that has it in registers.
//
// Idea     Rows stay with their lanes, and only positions are interchanged. The matrix that goes to memory grows in shared
//          memory, a row of U and a column of L a step. The column at hand is register 0 of its group of warps: when each group had
//          its turn, all move by one register, so that the loop is short enough for the instruction cache.
// LU       All warps search the column at hand, for themselves. So a step has two barriers: behind the pivot row, and behind the
//          next column.
// Cholesky Elimination without a search; L is the transpose of what becomes of a row, times 1/d. So what is below the diagonal
//          is never used, and a step has one barrier: behind the next row.
#pragma once

#include "core/cuda/wait.cuh"
#include "core/symmetric.hpp"
#include "solvers/cholesky/cuda/subpanel.cuh"
#include "solvers/devices/cuda/small/factors.cuh"
#include "solvers/lu/cuda/pivot_candidate.cuh"

namespace lasolve {

template <class Shape>
struct SmallShared {
  using T = typename Shape::Element;
  T F[Shape::N * Shape::ld];                         // L and U, with the rows where they are in A
  alignas(16) T u[2][Shape::groups][Shape::stride];  // pivot rows, from the column at hand on
  T column[2][Shape::N];                             // columns at hand
  T reciprocals[Shape::N];
  int rows[Shape::N];
};

template <class Shape>
class SmallElimination {
 public:
  using T = typename Shape::Element;
  using Shared = SmallShared<Shape>;
  static constexpr int N = Shape::N, R = Shape::R, M = Shape::M, groups = Shape::groups, ld = Shape::ld;

  __device__ SmallElimination(Shared& s, int n) : s_(s), n_(n) {}

  /// Element (i, j) of A is read where there(i, j). Whether all that was read by this thread is finite.
  template <class There>
  __device__ bool load(const T* A, std::int64_t ld_of_A, There there) {
    bool finite = true;
    each([&](int i, int j, T& v) { v = i < n_ && j < n_ && there(i, j) ? A[i + j * ld_of_A] : T(0); });
    each([&](int, int, T& v) { finite = finite && isfinite(v); });
    return finite;
  }
  __device__ void store(T* A) {
    each([&](int i, int j, T& v) {
      if (i < n_ && j < n_) A[i + j * n_] = v;
    });
  }
  /// By all threads: puts the matrix where each finds what others have.
  __device__ void share() {
    each([&](int i, int j, T& v) { s_.F[i + j * ld] = v; });
    __syncthreads();
  }
  /// After share(): whether the matrix equals its transpose, but for roundoff, and has a positive diagonal. So
  /// may_be_positive_definite() has it.
  __device__ bool may_be_positive_definite() {
    bool may_be = true;
    each([&](int i, int j, T& v) {
      if (i < n_ && j < n_) may_be = may_be && (i == j ? v > T(0) : v == s_.F[j + i * ld]);
    });
    return __syncthreads_and(may_be || is_symmetric_but_for_roundoff());
  }
  /// The part of this thread: a loop of its own, which ends early and takes no registers where the elements are held.
  __device__ bool is_symmetric_but_for_roundoff() const {
    const auto F = [&](int i, int j) { return s_.F[i + j * ld]; };
#pragma unroll 1
    for (int e = int(threadIdx.x); e < n_ * n_; e += Shape::threads) {
      const int i = e % n_, j = e / n_;
      if (!(F(i, i) > T(0)) || !equal_but_for_roundoff(F(i, j), F(j, i), F(i, i), F(j, j))) return false;
    }
    return true;
  }
  /// After share(): the matrix becomes symmetric. `there`: what counts.
  template <class There>
  __device__ void mirror(There there) {
    each([&](int i, int j, T& v) {
      if (!there(i, j)) v = s_.F[j + i * ld];
    });
    __syncthreads();
  }

  /// P A = L U. False: a pivot is not usual.
  __device__ bool lu() {
#pragma unroll
    for (int b = 0; b < N / 32; ++b) searched_[b] = lane() + 32 * b < n_ ? lane() + 32 * b : -1;
#pragma unroll
    for (int r = 0; r < R; ++r) position_[r] = row(r) < n_ ? row(r) : -1;
    submit_column(0);
    __syncthreads();
    int k = 0;
    if (!steps<M, true>(k)) return false;
    if (warp() == 0)
#pragma unroll
      for (int b = 0; b < N / 32; ++b)
        if (searched_[b] >= 0) s_.rows[searched_[b]] = lane() + 32 * b;
    __syncthreads();
    return true;
  }
  /// A = L D Lᵀ of a symmetric matrix. The order of the first minor that is not positive; 0: all are; −1: a pivot is not usual.
  __device__ int cholesky() {
#pragma unroll
    for (int r = 0; r < R; ++r) position_[r] = row(r) < n_ ? row(r) : -1;
    submit_row<M>(0);
    if (int(threadIdx.x) < N) s_.rows[threadIdx.x] = int(threadIdx.x);
    __syncthreads();
    int k = 0;
    if (steps<M, false>(k)) return 0;
    return !(pivot_ > T(0)) && isfinite(pivot_) ? k + 1 : -1;
  }

  /// By all threads, after one of these.
  __device__ void write(const SmallFactors<T>& to) const {
    write_factors<Shape::threads>(
        to, [&](int i, int j) { return s_.F[s_.rows[i] + j * ld]; }, [&](int i) { return s_.reciprocals[i]; },
        [&](int i) { return s_.rows[i]; });
  }
  __device__ double least() const { return least_; }
  __device__ double most() const { return most_; }

 private:
  __device__ static int lane() { return int(threadIdx.x) % 32; }
  __device__ static int warp() { return int(threadIdx.x) / 32; }
  __device__ static int group() { return warp() % groups; }
  __device__ static int row(int r) { return 32 * (warp() / groups * R + r) + lane(); }
  template <class F>
  __device__ __forceinline__ void each(F f) {
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int m = 0; m < M; ++m) f(row(r), m * groups + group(), v_[r][m]);
  }

  /// The steps from k on. They have `live` registers of a row until half of them are enough.
  template <int live, bool pivots>
  __device__ bool steps(int& k) {
    constexpr bool last = live / 2 < Shape::least_live;
    const int registers = (n_ + groups - 1) / groups;
#pragma unroll 1
    for (; k < n_ && (last || registers - k / groups > live / 2); ++k)
      if (!step<live, pivots>(k)) return false;
    if constexpr (last)
      return true;
    else
      return steps<live / 2, pivots>(k);
  }

  /// False: the pivot is not usual. All threads agree on that.
  template <int live, bool pivots>
  __device__ __forceinline__ bool step(int k) {
    const int before = k / groups;  // registers that all groups are done with
    int at = k;                     // where the pivot row is
    if constexpr (pivots) {
      at = find_pivot(k);
      pivot_ = s_.column[k % 2][at];
      if (is_extreme(pivot_)) return false;
      if (at / (32 * R) == warp() / groups && at % 32 == lane()) copy_row<live>(s_.u[0], at / 32 % R);
    } else {
      pivot_ = s_.u[k % 2][k % groups][0];
      if (!is_usual(pivot_)) return false;
    }
    const T reciprocal = fast_reciprocal(pivot_);
    const double size = fabs(double(pivot_));
    least_ = k == 0 ? size : fmin(least_, size), most_ = k == 0 ? size : fmax(most_, size);
    if constexpr (pivots) __syncthreads();  // the row is there
    const auto& u = s_.u[pivots ? 0 : k % 2];
    T l[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      l[r] = 0;
      if (position_[r] <= k) continue;
      l[r] = (pivots ? s_.column[k % 2][row(r)] : u[row(r) % groups][row(r) / groups - before]) * reciprocal;
      if (group() == k % groups) s_.F[row(r) + k * ld] = l[r];
    }
    if (warp() < N / 32)
      if (const int j = int(threadIdx.x); j >= k && j < n_) s_.F[at + j * ld] = u[j % groups][j / groups - before];
    if (threadIdx.x == 0) s_.reciprocals[k] = reciprocal;
    update<live>(u[group()], l, k);
    if ((k + 1) % groups == 0)
#pragma unroll
      for (int r = 0; r < R; ++r)
#pragma unroll
        for (int m = 0; m + 1 < live; ++m) v_[r][m] = v_[r][m + 1];
    pivots ? submit_column(k + 1) : submit_row<live>(k + 1);
    __syncthreads();
    return true;
  }

  /// Where the row is that has the largest magnitude in column k, of equals the first. Each warp finds it for itself.
  __device__ __forceinline__ int find_pivot(int k) {
    std::uint64_t best = 0;
    int position = N, at = 0;
#pragma unroll
    for (int b = 0; b < N / 32; ++b) {
      const std::uint64_t magnitude = searched_[b] >= k ? magnitude_of(s_.column[k % 2][lane() + 32 * b]) : 0;
      if (magnitude > best || (magnitude == best && magnitude > 0 && searched_[b] < position))
        best = magnitude, position = searched_[b], at = lane() + 32 * b;
    }
    const int found = __shfl_sync(all_lanes, position * N + at, best_lane(best, position));
    position = found / N, at = found % N;
    const auto interchange = [&](int& of) { of = of == position ? k : of == k ? position : of; };
#pragma unroll
    for (int b = 0; b < N / 32; ++b) interchange(searched_[b]);
#pragma unroll
    for (int r = 0; r < R; ++r) interchange(position_[r]);
    return at;
  }

  /// v ← v − l u.
  template <int live>
  __device__ __forceinline__ void update(const T* u, const T (&l)[R], int k) {
    bool some = false;
#pragma unroll
    for (int r = 0; r < R; ++r) some = some || position_[r] > k;
    if (!some) return;
#pragma unroll
    for (int m = 0; m < live; m += Shape::chunk) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(u + m);
#pragma unroll
      for (int e = 0; e < Shape::chunk; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r) v_[r][m + e] = fma(-l[r], chunk.values[e], v_[r][m + e]);
    }
  }

  /// By one lane: its row to u, for all groups together.
  template <int live>
  __device__ __forceinline__ void copy_row(T (&u)[groups][Shape::stride], int which) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r == which)
#pragma unroll
        for (int m = 0; m < live; m += Shape::chunk) {
          Chunk<T> chunk;
#pragma unroll
          for (int e = 0; e < Shape::chunk; ++e) chunk.values[e] = v_[r][m + e];
          *reinterpret_cast<Chunk<T>*>(&u[group()][m]) = chunk;
        }
  }
  __device__ __forceinline__ void submit_column(int k) {
    if (group() == k % groups)
#pragma unroll
      for (int r = 0; r < R; ++r) s_.column[k % 2][row(r)] = v_[r][0];
  }
  template <int live>
  __device__ __forceinline__ void submit_row(int k) {
    if (k / (32 * R) == warp() / groups && k % 32 == lane()) copy_row<live>(s_.u[k % 2], k / 32 % R);
  }

  Shared& s_;
  const int n_;
  T v_[R][M];                           // of columns m · groups + group(), from the column at hand on
  int position_[R], searched_[N / 32];  // of rows of this lane, and of those that its warp searches; −1: no row
  T pivot_ = 0;
  double least_ = 0, most_ = 0;
};

/// One block. Reads A, looks at it, factors it, and writes the factors and a copy of A. After an `attempt` by Cholesky it does what is left: LU.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    factor_small(SmallTask<typename Shape::Element> task, SmallFactors<typename Shape::Element> factors,
                 const SmallAttempt* attempt, SmallEnding* ending) {
  extern __shared__ __align__(16) unsigned char memory[];
  const bool tried = attempt != nullptr;
  if (tried && attempt->done) return;
  const long long begin = clock64();
  const std::uint64_t began = nanoseconds();
  SmallElimination<Shape> elimination(*reinterpret_cast<SmallShared<Shape>*>(memory), factors.n);
  const Uplo triangle = task.triangle;
  const auto all = [](int, int) { return true; };
  const auto above_or_below = [=](int i, int j) { return triangle == Uplo::upper ? i <= j : i >= j; };
  const bool whole = triangle == Uplo::both;
  const bool finite =
      whole ? elimination.load(task.A, task.ld, all) : elimination.load(task.A, task.ld, above_or_below);
  if (whole) elimination.store(factors.A);
  SmallEnding end{};
  const Method method = tried ? Method::lu : task.method;
  bool cholesky = method == Method::cholesky;
  double part_of_look = 1;
  if (__syncthreads_and(finite) || !task.requires_finite) {
    if (method != Method::lu) elimination.share();
    if (method == Method::automatic) cholesky = elimination.may_be_positive_definite();
    if (method == Method::cholesky) elimination.mirror(above_or_below);
    if (!whole) elimination.store(factors.A);
    const long long looked = clock64();
    int minor = cholesky ? elimination.cholesky() : 0;
    if (tried) end.not_positive = attempt->not_positive;
    if (minor > 0 && method == Method::automatic) {
      __syncthreads();                              // all are done with what LU overwrites
      elimination.load(factors.A, factors.n, all);  // each thread what it has written
      cholesky = false, end.not_positive = minor, minor = 0;
    }
    end.usual = minor == 0 && (cholesky || elimination.lu());
    if (end.usual) elimination.write(factors);
    end.cholesky = cholesky, end.least = elimination.least(), end.most = elimination.most();
    part_of_look = double(looked - begin) / double(clock64() - begin);
  }
  const double before = tried ? 1e-9 * double(began - attempt->began) : 0, own = 1e-9 * double(nanoseconds() - began);
  end.seconds = before + own;
  end.part_of_look = end.seconds > 0 ? (before + part_of_look * own) / end.seconds : part_of_look;
  __syncthreads();
  if (threadIdx.x == 0) tell_host(ending, end);
}

}  // namespace lasolve
