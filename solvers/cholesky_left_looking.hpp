// A = L Lᵀ, left-looking: each block column is touched only when its turn has come, and so may arrive late. Over the same
// primitives as cholesky.hpp.
#pragma once

#include <utility>

#include "lasolve/lasolve.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/steps.hpp"
#include "solvers/supply.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

/// In block columns of at most nb, with look-ahead: while one is brought up to date with the one before it and factored, the
/// next arrives and is brought up to date with all before those two. Queues, of which each goes before the next where both
/// could run:
///
///   chain  what all wait for: the panel, or of a tall one the block on the diagonal
///   rows   the other rows of a tall panel
///   bulk   the large products, in two queues in turns: one begins while the last blocks of the other run
template <class T, class Place>
class LeftLookingCholesky {
 public:
  LeftLookingCholesky(Queue<Place>& bulk, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
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
        steps_{alone_ || supply || steps_are_phases(bulk, Method::cholesky, n_)} {}

  void factor() {
    bulk_[1]->join(*bulk_[0]);
    bulk_[0]->phase(Phase::gemm);
    chain_.phase(Phase::panel);
    arrive(bulk(0), 0, end_of(0));
    for (std::int64_t j0 = 0, j = 0, j2 = end_of(0); j < n_; j0 = std::exchange(j, j2), j2 = end_of(j), ++turn_) {
      if (known_to_have_failed(chain_, bad_minor_)) break;
      step(j0, j, j2, end_of(j2));
    }
    chain_.wait(rows_);  // ends its phase
    for (Queue<Place>* q : bulk_) q->wait(chain_);
  }

 private:
  /// Where the block column that begins with column j ends.
  std::int64_t end_of(std::int64_t j) const {
    return j + std::min(n_ - j, cholesky_columns_at_once(chain_, nb_, j, n_));
  }
  /// The queue that brings the block column at hand up to date, or one `later`.
  Queue<Place>& bulk(int later) { return *bulk_[(turn_ + later) % 2]; }

  void arrive(Queue<Place>& q, std::int64_t j, std::int64_t end) {
    if (supply_ && j < end) supply_(q, j, A_.columns(j, end - j));
  }

  void update(Queue<Place>& q, MatrixView<T, Place> L, MatrixView<T, Place> C) { update_block_column(q, gemm_, L, C); }
  double update_flops(std::int64_t j, std::int64_t end, std::int64_t k) const {
    return double(2 * n_ - j - end) * double(end - j) * double(k);
  }

  /// Factors the block column from j to j2, behind that from j0 on, and brings the next, which ends before j3, up to date with
  /// all before this one. Where panels are what is waited for, that begins when this one is up to date: they would share the
  /// device.
  void step(std::int64_t j0, std::int64_t j, std::int64_t j2, std::int64_t j3) {
    const bool bulk_waits = !limits_.products_bind(j, n_);
    if (!bulk_waits) steps_.wait(bulk(1), chain_);  // all before column j is factored
    steps_.wait(chain_, bulk(0));                   // this one lacks only what the one before it does to it
    steps_.begin(chain_, alone_ ? Phase::gemm : Phase::panel, update_flops(j, j2, j - j0));
    const auto column = A_.block(j, j, n_ - j, j2 - j);
    const bool apart = j2 < n_ && limits_.rows_go_apart(j, n_);
    if (apart)
      update_apart(j0, j, j2);
    else if (j > 0)
      update_near(chain_, gemm_, A_.block(j, j0, n_ - j, j - j0), A_.block(j, j0, j2 - j, j - j0), column);
    if (bulk_waits) steps_.wait(bulk(1), apart ? rows_ : chain_);
    if (alone_) chain_.phase(Phase::panel);
    chain_.add_flops(cholesky_panel_flops(double(n_ - j), double(j2 - j)));
    if (apart)
      factor_apart(A_.block(j, j, j2 - j, j2 - j), A_.block(j2, j, n_ - j2, j2 - j), Minors<Place>{bad_minor_, j});
    else
      cholesky_recursive(chain_, gemm_, column, Minors<Place>{bad_minor_, j});

    arrive(bulk(1), j2, j3);
    if (j == 0 || j2 == n_) return;
    steps_.begin(steps_.are_phases ? bulk(1) : *bulk_[0], Phase::gemm, update_flops(j2, j3, j));
    update(bulk(1), A_.block(j2, 0, n_ - j2, j), A_.block(j2, j2, n_ - j2, j3 - j2));
  }

  /// Brings the block column from j to j2 up to date with the one before it, the rows below the block on the diagonal in a
  /// queue of their own.
  void update_apart(std::int64_t j0, std::int64_t j, std::int64_t j2) {
    const auto L1 = A_.block(j, j0, j2 - j, j - j0), L2 = A_.block(j2, j0, n_ - j2, j - j0);
    rows_.join(chain_);
    if (j == 0) return;
    const auto C = A_.block(j, j, j2 - j, j2 - j);
    C.cols() > diagonal_update_columns(chain_) ? update(chain_, L1, C) : update_near(chain_, gemm_, L1, L1, C);
    update_near(rows_, gemm_, L2, L1, A_.block(j2, j, n_ - j2, j2 - j));
  }

  /// [A1; A2] = [L1; L2] L1ᵀ for a square A1, as cholesky_recursive, with the rows of A2 in a queue of their own. Those of the
  /// last leaf are waited for in any case.
  void factor_apart(MatrixView<T, Place> A1, MatrixView<T, Place> A2, Minors<Place> minors) {
    const std::int64_t m = A1.rows();
    by_halves(
        0, m, cholesky_leaf_columns(chain_, A1),
        [&](std::int64_t j, std::int64_t n) {
          panel_cholesky_leaf(chain_, gemm_, A1.block(j, j, m - j, n), minors.from(j));
          const bool last = j + n == m;
          last ? chain_.join(rows_) : rows_.join(chain_);
          trsm_right(last ? chain_ : rows_, gemm_, lower(A1.block(j, j, n, n)).transposed(), A2.columns(j, n));
        },
        [&](std::int64_t j, std::int64_t k, std::int64_t n) {
          const std::int64_t i = j + k;
          const auto above = A1.block(i, j, n, k);
          update_near(chain_, gemm_, A1.block(i, j, m - i, k), above, A1.block(i, i, m - i, n));
          update_near(rows_, gemm_, A2.columns(j, k), above, A2.columns(i, n));
        });
  }

  Queue<Place>* const bulk_[2];
  Queue<Place>&rows_, &chain_;
  const Gemm<T, Place>& gemm_;
  MatrixView<T, Place> A_;
  MatrixView<std::int64_t, Place> bad_minor_;
  std::int64_t nb_, n_;
  const Supply<T, Place>& supply_;
  const CholeskyLimits limits_ = cholesky_limits<T>(chain_);
  const bool alone_;
  const Steps steps_;  // if they are no phases the chain is one and the bulk another, from the first kernel to the last
  int turn_ = 0;
};

/// On exit as factor_cholesky. A: n × n; with a supply, undefined on entry. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky_left_looking(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
                                  MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb,
                                  const Supply<T, Place>& supply) {
  LeftLookingCholesky<T, Place>(q, gemm, A, bad_minor, nb, supply).factor();
}

}  // namespace lasolve
