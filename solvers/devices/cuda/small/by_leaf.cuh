// A = L D Lᵀ of a small matrix that is symmetric and positive definite, by one block of threads with the code of a Cholesky leaf.
// From some order on that is sooner than elimination in registers. A leaf has X = L D in its memory, and no roots.
#pragma once

#include "core/cuda/wait.cuh"
#include "core/symmetric.hpp"
#include "solvers/cholesky/cuda/leaf.cuh"
#include "solvers/devices/cuda/small/factors.cuh"

namespace lasolve {

/// By all threads: reads A, and writes a copy, all of it, for the leaf. Whether its factors may be tried: A is finite if it has to be
/// and, unless the method was given by name, symmetric with a positive diagonal.
template <class S, class T = typename S::Element>
__device__ bool take_matrix(CholeskyShared<S>& s, const SmallTask<T>& task, const SmallFactors<T>& to) {
  constexpr int at_once = 2, parts = S::order / 32;
  const int n = to.n, lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const Uplo triangle = task.triangle;
  const auto counts = [=](int i, int j) {
    return triangle == Uplo::both || (triangle == Uplo::upper ? i <= j : i >= j);
  };
  const bool by_name = task.method == Method::cholesky;
  bool may_be = true;
#pragma unroll 1
  for (int first = warp; first < n; first += at_once * S::warps) {
    T values[at_once][parts];
    const auto each = [&](auto f) {
#pragma unroll
      for (int c = 0; c < at_once; ++c)
#pragma unroll
        for (int part = 0; part < parts; ++part)
          if (const int i = lane + 32 * part, j = first + c * S::warps; i < n && j < n && counts(i, j))
            f(values[c][part], i, j);
    };
    each([&](T& v, int i, int j) { v = task.A[i + j * task.ld]; });
    each([&](T v, int i, int j) {
      s.X[j][i] = double(v);
      to.A[i + j * n] = v;
      if (!counts(j, i)) to.A[j + i * n] = v;
      may_be = may_be && (isfinite(v) || !task.requires_finite) && (i != j || by_name || v > T(0));
    });
  }
  __syncthreads();
  if (!by_name)
    for (int j = warp; j < n; j += S::warps)
      for (int i = lane; i < j; i += 32)
        may_be = may_be && equal_but_for_roundoff(T(s.X[j][i]), T(s.X[i][j]), T(s.X[i][i]), T(s.X[j][j]));
  return __syncthreads_and(may_be);
}

/// One block. `copy`: the memory of factors.A, n × n. What this does not do is for factor_small, if that comes behind it.
template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    factor_small_by_leaf(SmallTask<typename S::Element> task, SmallFactors<typename S::Element> factors,
                         MatrixView<typename S::Element, Cuda> copy, SmallAttempt* attempt, SmallEnding* ending) {
  using T = typename S::Element;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<S>*>(memory);
  const int n = factors.n, t = int(threadIdx.x);
  const long long begin = clock64();
  const std::uint64_t began = nanoseconds();
  const bool tries = take_matrix(s, task, factors);
  const long long looked = clock64();
  SmallEnding end{};
  int bad = n;
  if (tries) {
    bad = factor_leaf(s, copy, 0, [] {});
    end.usual = __syncthreads_and(t >= n || s.X[t][t] == double(s.pivot[t]));  // of a pivot that is not, X has the root
  }
  if (end.usual)
    write_factors<S::threads>(
        factors, [&](int i, int j) { return T(i > j ? -s.X[j][i] * s.minus_inverse[j] : s.X[i][j]); },
        [&](int i) { return T(-s.minus_inverse[i]); }, [](int i) { return i; });
  __syncthreads();
  if (t >= 32) return;
  end.cholesky = true, end.least = end.most = double(s.pivot[0]);
  for (int i = t; i < n; i += 32)
    end.least = fmin(end.least, double(s.pivot[i])), end.most = fmax(end.most, double(s.pivot[i]));
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    end.least = fmin(end.least, __shfl_xor_sync(~0u, end.least, half));
    end.most = fmax(end.most, __shfl_xor_sync(~0u, end.most, half));
  }
  if (t != 0) return;
  const bool leaves = task.method == Method::automatic && (!tries || bad < n);
  *attempt = {!leaves, bad < n ? bad + 1 : 0, began};
  if (leaves) return;
  end.part_of_look = double(looked - begin) / double(clock64() - begin);
  end.seconds = 1e-9 * double(nanoseconds() - began);
  tell_host(ending, end);
}

}  // namespace lasolve
