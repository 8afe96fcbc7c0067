// A = L Lᵀ, left-looking: each block column is touched only when its turn has come, and so may arrive late. Over the same
// primitives as cholesky.hpp.
#pragma once

#include "solvers/cholesky.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Left-looking, in block columns of nb, with look-ahead: while one is brought up to date with the one before it and
/// factored, the next arrives and is brought up to date with all before those two. Where there are two queues, each is one
/// phase, because marks between their kernels would cost more than they tell.
/// On exit as factor_cholesky. A: n × n; with a supply, undefined on entry. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky_left_looking(Queue<Place>& bulk, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                                  MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb,
                                  const Supply<T, Place>& supply) {
  Queue<Place>& ahead = bulk.ahead();
  const std::int64_t n = A.rows();
  const bool alone = &ahead == &bulk, panels_first = cholesky_panels_go_first(bulk, n);
  const auto begin = [](Queue<Place>& q, bool marked, Phase phase, double flops) {
    marked ? q.phase(phase, flops) : q.add_flops(flops);
  };
  const auto width = [&](std::int64_t j) { return std::min(nb, n - j); };
  /// The block column of up to nb columns from j on, from its diagonal down, ← itself − L L1ᵀ with columns k, …, end − 1 of L.
  const auto update = [&](Queue<Place>& q, bool marked, std::int64_t j, std::int64_t k, std::int64_t end) {
    const std::int64_t jb = width(j);
    const auto L = A.block(j, k, n - j, end - k);
    begin(q, marked, Phase::gemm, double(2 * (n - j) - jb) * double(jb) * double(end - k));
    gemm(q, T(-1), L, transposed(L.block(0, 0, jb, end - k)), T(1), A.block(j, j, n - j, jb));
  };
  const auto arrive = [&](std::int64_t j) {
    if (supply && j < n) supply(bulk, j, A.columns(j, width(j)));
  };
  arrive(0);
  bulk.phase(Phase::gemm);
  ahead.phase(Phase::panel);
  for (std::int64_t j = 0; j < n; j += nb) {
    if (known_to_have_failed(bulk, bad_minor)) break;
    const std::int64_t jb = width(j);
    if (!panels_first) bulk.join(ahead);  // all before column j is factored
    ahead.join(bulk);                     // this block column lacks only what the one before it does to it
    if (j > 0) update(ahead, alone, j, j - nb, j);
    if (panels_first) bulk.join(ahead);  // and the product below does not hold up the one above
    begin(ahead, alone, Phase::panel, cholesky_panel_flops(double(n - j), double(jb)));
    cholesky_recursive(ahead, gemm, A.block(j, j, n - j, jb), Minors<Place>{bad_minor, j});  // C = [L11; L21] L11ᵀ

    arrive(j + jb);
    if (j > 0 && j + jb < n) update(bulk, alone || supply, j + jb, 0, j);
  }
  bulk.join(ahead);
}

}  // namespace lasolve
