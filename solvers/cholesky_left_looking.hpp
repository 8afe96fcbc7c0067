// A = L Lᵀ, left-looking: each block column is touched only when its turn has come, and so may arrive late. Over the same
// primitives as cholesky.hpp.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// In block columns of nb, with look-ahead: while one is brought up to date with the one before it and factored, the next
/// arrives and is brought up to date with all before those two. Queues, of which each goes before the next where both could
/// run:
///
///   chain  what all wait for: the panel, or of a tall one the block on the diagonal
///   rows   the other rows of a tall panel
///   bulk   the large products, in two queues in turns: one begins while the last blocks of the other run
template <class T, class Place>
class LeftLookingCholesky {
 public:
  LeftLookingCholesky(Queue<Place>& bulk, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                      MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb, const Supply<T, Place>& supply)
      : bulk_{&bulk, &bulk.beside()},
        rows_(bulk.ahead()),
        chain_(rows_.ahead()),
        gemm_(gemm),
        A_(A),
        bad_minor_(bad_minor),
        nb_(nb),
        n_(A.rows()),
        supply_(supply),
        alone_(&chain_ == &bulk),
        marked_(alone_ || supply || steps_are_phases(bulk, Method::cholesky, n_)) {}

  void factor() {
    bulk_[1]->join(*bulk_[0]);
    bulk_[0]->phase(Phase::gemm);
    chain_.phase(Phase::panel);
    arrive(0);
    for (std::int64_t j = 0; j < n_; j += nb_) {
      if (known_to_have_failed(chain_, bad_minor_)) break;
      step(j, std::min(nb_, n_ - j));
    }
    chain_.wait(rows_);  // ends its phase
    for (Queue<Place>* q : bulk_) q->wait(chain_);
  }

 private:
  /// The queue that brings the block column from j on up to date.
  Queue<Place>& bulk(std::int64_t j) { return *bulk_[j / nb_ % 2]; }

  /// Timing events between short kernels cost more than they tell. Where none are wanted the chain is one phase and the bulk
  /// another, from the first kernel to the last.
  void wait(Queue<Place>& q, Queue<Place>& other) { marked_ ? q.wait(other) : q.join(other); }
  void begin(Queue<Place>& q, Phase phase, double flops) {
    marked_ ? q.phase(phase, flops) : (phase == Phase::gemm ? *bulk_[0] : chain_).add_flops(flops);
  }

  void arrive(std::int64_t j) {
    if (supply_ && j < n_) supply_(bulk(j), j, A_.columns(j, std::min(nb_, n_ - j)));
  }

  /// The block column from j on, from its diagonal down, ← itself − L L1ᵀ with all columns of L before k.
  void update(Queue<Place>& q, std::int64_t j, std::int64_t k) {
    const std::int64_t jb = std::min(nb_, n_ - j);
    const auto L = A_.block(j, 0, n_ - j, k);
    gemm_(q, T(-1), L, transposed(L.block(0, 0, jb, k)), T(1), A_.block(j, j, n_ - j, jb));
  }
  double update_flops(std::int64_t j, std::int64_t k) const {
    const std::int64_t jb = std::min(nb_, n_ - j);
    return double(2 * (n_ - j) - jb) * double(jb) * double(k);
  }

  /// Factors the block column of jb columns from j on, and brings the next up to date with all before this one. Where
  /// panels are what is waited for, that begins when this one is up to date: they would share the device.
  void step(std::int64_t j, std::int64_t jb) {
    const bool bulk_waits = !cholesky_products_bind(chain_, j, n_);
    const std::int64_t before = std::min(nb_, j);
    Queue<Place>& next = bulk(j + jb);
    if (!bulk_waits) wait(next, chain_);  // all before column j is factored
    wait(chain_, bulk(j));                // this one lacks only what the one before it does to it
    begin(chain_, alone_ ? Phase::gemm : Phase::panel, update_flops(j, before));
    const bool apart = j + jb < n_ && cholesky_rows_apart(chain_, j, n_);
    if (apart)
      update_apart(j, jb, before);
    else if (j > 0)
      update_near(chain_, gemm_, A_.block(j, j - before, n_ - j, before), A_.block(j, j, n_ - j, jb));
    if (bulk_waits) wait(next, apart ? rows_ : chain_);
    if (alone_) chain_.phase(Phase::panel);
    chain_.add_flops(cholesky_panel_flops(double(n_ - j), double(jb)));
    if (apart)
      factor_apart(j, jb);
    else
      cholesky_recursive(chain_, gemm_, A_.block(j, j, n_ - j, jb), Minors<Place>{bad_minor_, j});

    arrive(j + jb);
    if (j == 0 || j + jb >= n_) return;
    begin(next, Phase::gemm, update_flops(j + jb, j));
    update(next, j + jb, j);
  }

  /// Brings a panel up to date with the columns before it, the rows below the block on the diagonal in a queue of their own.
  void update_apart(std::int64_t j, std::int64_t jb, std::int64_t before) {
    const std::int64_t j2 = j + jb;
    const auto L1 = A_.block(j, j - before, jb, before), L2 = A_.block(j2, j - before, n_ - j2, before);
    rows_.join(chain_);
    if (j == 0) return;
    update_near(chain_, gemm_, L1, A_.block(j, j, jb, jb));
    gemm_(rows_, T(-1), L2, transposed(L1), T(1), A_.block(j2, j, n_ - j2, jb));
  }

  /// [A11; A21] = [L11; L21] L11ᵀ, a leaf's columns after the other, with the rows of A21 in a queue of their own. Those of
  /// the last leaf are waited for in any case.
  void factor_apart(std::int64_t j, std::int64_t jb) {
    const auto A11 = A_.block(j, j, jb, jb), A21 = A_.block(j + jb, j, n_ - j - jb, jb);
    const std::int64_t leaf = cholesky_leaf_columns(chain_, A11);
    for (std::int64_t c = 0, w; c < jb; c += w) {
      w = std::min(leaf, jb - c);
      const std::int64_t c2 = c + w, left = jb - c2;
      const auto L = A11.block(c2, c, left, w), X = A21.columns(c, w);
      panel_cholesky_leaf(chain_, gemm_, A11.block(c, c, jb - c, w), Minors<Place>{bad_minor_, j + c});
      left > 0 ? rows_.join(chain_) : chain_.join(rows_);
      update_near(chain_, gemm_, L, A11.block(c2, c2, left, left));
      trsm_right(left > 0 ? rows_ : chain_, gemm_, lower(A11.block(c, c, w, w)).transposed(), X);
      if (left > 0) gemm_(rows_, T(-1), X, transposed(L), T(1), A21.columns(c2, left));
    }
  }

  Queue<Place>* const bulk_[2];
  Queue<Place>&rows_, &chain_;
  const GemmBackend<Place>& gemm_;
  MatrixView<T, Place> A_;
  MatrixView<std::int64_t, Place> bad_minor_;
  std::int64_t nb_, n_;
  const Supply<T, Place>& supply_;
  const bool alone_, marked_;
};

/// On exit as factor_cholesky. A: n × n; with a supply, undefined on entry. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky_left_looking(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                                  MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb,
                                  const Supply<T, Place>& supply) {
  LeftLookingCholesky<T, Place>(q, gemm, A, bad_minor, nb, supply).factor();
}

}  // namespace lasolve
