// Gives each core a tile of C of its own, so that a CPU kernel is written as if there were one core.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cpu/parallel.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve {

/// How many tiles C (m × n) is cut into, down and across, for `threads` cores: the cut that reads least of A and B.
inline std::pair<std::int64_t, std::int64_t> tile_grid(std::int64_t m, std::int64_t n, std::int64_t threads) {
  std::pair<std::int64_t, std::int64_t> best{1, threads};
  double least = 1e300;
  for (std::int64_t down = 1; down <= threads; ++down) {
    if (threads % down != 0) continue;
    const std::int64_t across = threads / down;
    const double read = double(m) * double(across) + double(n) * double(down);
    if (read < least) least = read, best = {down, across};
  }
  return best;
}

/// Start of part i when `length` is cut into `parts`, each a multiple of 8 but the last.
inline std::int64_t cut(std::int64_t length, std::int64_t parts, std::int64_t i) {
  return std::min(length, round_up(ceil_div(length, parts), 8) * i);
}

/// What a product of m × n elements is counted as when it is shared: its operations, and to read and write C.
constexpr double work_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * double(m) * double(n) * double(k + 1);
}

/// The backend function that runs Kernel(α, A, B, β, C), written for one core, on all cores of the queue.
template <auto Kernel>
inline constexpr auto on_all_cores = []<class T, class In>(void (*)(T, Operand<In>, Operand<In>, T, MatrixView<T>)) {
  return +[](const void*, Queue<Cpu>& q, T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C) {
    const double flops = work_of(C.rows(), C.cols(), A.cols());
    const std::int64_t parts = parts_for(q, flops);
    const auto [down, across] = tile_grid(C.rows(), C.cols(), parts);
    on_cores(parts, flops, [&, down = down, across = across](std::int64_t t) {
      const std::int64_t i = cut(C.rows(), down, t % down), m = cut(C.rows(), down, t % down + 1) - i;
      const std::int64_t j = cut(C.cols(), across, t / down), n = cut(C.cols(), across, t / down + 1) - j;
      if (m > 0 && n > 0)
        Kernel(alpha, A.block(i, 0, m, A.cols()), B.block(0, j, B.rows(), n), beta, C.block(i, j, m, n));
    });
  };
}(Kernel);

/// C ← β·C, where β = 0 overwrites NaN.
template <class T>
void scale(T beta, MatrixView<T> C) {
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) = beta == T(0) ? T(0) : beta * C(i, j);
}

}  // namespace lasolve
