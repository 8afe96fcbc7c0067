// P A = L U, right-looking with look-ahead. Over the same primitives as lu.hpp.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/lu.hpp"
#include "solvers/steps.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

/// A is brought up to date with what is factored from the left to the right, by queues. The chain goes before near and soon
/// where both could run, and these before the bulk:
///
///   chain  what all wait for: a step of a panel is factored, and the columns of the next step are brought up to date
///   near   the other columns of the panel, step by step; at its last step those of the next panel
///   soon   the columns of the next panel, two steps at a time until then; and when a panel is factored, those of the next
///          but one, where panels are waited for
///   bulk   all columns behind them, when a panel is factored
///   far    the last of these, where panels are waited for: after all others, until panels come near
///
/// So the chain waits for what a whole panel does to other columns only at the end of the next panel. Where panels are waited
/// for, near and soon belong to the phase of the chain: marks between short kernels cost as much as these. Where a device has one queue, all columns are brought up to date at each step.
template <class T, class Place>
class RightLooking {
 public:
  RightLooking(Queue<Place>& bulk, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
               std::int64_t nb)
      : nb_(nb),
        n_(A.rows()),
        far_columns_(lu_far_columns<T>(bulk, n_)),
        far_(far_columns_ > 0 ? bulk.behind() : bulk),
        bulk_(bulk),
        near_(bulk.ahead()),
        soon_(nb > lu_widths<T>(bulk, nb, n_ - 1, n_).step ? near_.beside() : near_),
        chain_(near_.ahead()),
        gemm_(gemm),
        A_(A),
        pivots_(pivots),
        alone_(&chain_ == &bulk_),
        later_(swaps_L_at_the_end(bulk, n_)) {}

  void factor() {
    if (n_ == 0) return;
    chain_.wait(bulk_);
    LuWidths now = widths(0);
    chain_.phase(Phase::panel, panel_flops(double(n_), double(now.step)));
    factor_step(0, now.step);
    for (std::int64_t j = 0; j < n_;) {
      const std::int64_t end = j + now.panel;
      const LuWidths next = widths(end);
      for (std::int64_t c = j; c < end; c += now.step) {
        const std::int64_t cb = std::min(now.step, end - c), left = end - c - cb;
        advance(j, c, cb, left > 0 ? std::min(now.step, left) : next.step, end, end + next.panel);
      }
      update_behind(j, now.panel, end + next.panel);
      panels_.push_back(j);
      j = end, now = next;
    }
    chain_.wait(near_);  // ends its phase
    bulk_.wait(chain_);
    bulk_.wait(near_);
    bulk_.wait(soon_);
    bulk_.wait(far_);
    if (later_) swap_rows_of_L(bulk_, A_, pivots_, panels_, n_);
  }

 private:
  LuWidths widths(std::int64_t j) const {
    const LuWidths w = lu_widths<T>(bulk_, nb_, j, n_);
    return {std::min(w.panel, n_ - j), std::min(w.step, n_ - j)};
  }
  /// Columns from, …, to − 1 in the rows from j on.
  MatrixView<T, Place> part(std::int64_t j, std::int64_t from, std::int64_t to) const {
    return A_.block(j, from, n_ - j, std::max<std::int64_t>(0, to - from));
  }
  /// P [A11; A21] = [L11; L21] U11
  void factor_step(std::int64_t j, std::int64_t columns) {
    if (columns > 0) exchanged_ = panel_lu(chain_, gemm_, part(j, j, j + columns), pivots_.block(j, columns));
  }

  /// When step [c, c + cb) of the panel [j, end) is factored: the next step, of `next` columns, follows. The next panel
  /// ends with column next_end.
  void advance(std::int64_t j, std::int64_t c, std::int64_t cb, std::int64_t next, std::int64_t end,
               std::int64_t next_end) {
    const bool last = c + cb == end;
    const std::int64_t c2 = c + cb, chain_end = alone_ ? n_ : c2 + next;
    const auto L = part(c, c, c2), C = part(c, c2, chain_end);
    const auto p = pivots_.block(c, cb);
    const double panel = panel_flops(double(n_ - c2), double(next));
    if (last) near_.wait(soon_);  // the next panel is up to date with the steps before
    const Steps steps{alone_ || steps_are_phases(chain_, Method::lu, n_ - c)};
    steps.wait(chain_, near_);  // these columns are up to date with the step before
    steps.begin(chain_, alone_ ? Phase::swap : Phase::panel, alone_ ? 0 : panel + eliminate_flops(L, C));
    if (exchanged_ && c == j && last) {
      combine_exchanges(chain_, p);
      combined_ = true;
    }
    const bool at_once = !exchanged_ && eliminate_at_once(chain_, L, p, C);
    if (!at_once) {
      chain_.join(soon_);                                     // which reads the rows of L so far
      swap_rows(chain_, part(c, j, exchanged_ ? c : c2), p);  // the rows of L in this panel
      swap_rows(chain_, C, p);
      solve_for_U(chain_, gemm_, L, C, alone_);
      subtract_LU(chain_, gemm_, L, C, alone_);
    }
    near_.wait(chain_);
    if (alone_) chain_.phase(Phase::panel, panel);
    factor_step(c2, next);
    if (at_once) swap_rows(near_, L, p);
    soon_.wait(near_);
    if (at_once && c > j) swap_rows(soon_, part(c, j, c), p);
    if (last) bulk_.wait(near_), bulk_.wait(soon_);
    eliminate_unmarked(near_, L, p, part(c, chain_end, last ? next_end : end));
    if (!last) update_soon(j, c, cb, std::max(chain_end, end), end, next_end);
  }

  /// When step [c, c + cb) of the panel [j, end) is factored, and is not its last: of the next panel the columns from `from`
  /// on. Two steps at a time, which are half as many kernels with twice the k, but for one that is the last but one.
  void update_soon(std::int64_t j, std::int64_t c, std::int64_t cb, std::int64_t from, std::int64_t end,
                   std::int64_t next_end) {
    const std::int64_t c2 = c + cb;
    const bool second = (c - j) / cb % 2 == 1, last_but_one = c2 + cb >= end;
    if (!second && !last_but_one) return;
    const std::int64_t first = second ? c - cb : c;
    eliminate_unmarked(soon_, part(first, first, c2), pivots_.block(first, c2 - first), part(first, from, next_end));
  }

  /// As a part of the chain's phase.
  void eliminate_unmarked(Queue<Place>& q, MatrixView<T, Place> L, Pivots<Place> p, MatrixView<T, Place> C) {
    eliminate(q, gemm_, L, p, C, false);
    chain_.add_flops(eliminate_flops(L, C));
  }

  /// When the panel of columns j, …, j + jb − 1 is factored. The first of the columns behind the next panel are wanted soon.
  void update_behind(std::int64_t j, std::int64_t jb, std::int64_t next_end) {
    const bool apart = solves_soon_first(bulk_, jb, n_ - j);
    const std::int64_t wanted = next_end + widths(next_end).panel, begins = n_ - far_columns_;
    const std::int64_t far = apart && wanted <= begins ? begins : n_;
    const auto L = part(j, j, j + jb), C = part(j, next_end, alone_ ? next_end : far);
    const auto p = pivots_.block(j, jb);
    const std::int64_t soon = std::min(C.cols(), wanted - next_end), first = apart ? soon : C.cols();
    Queue<Place>& q = apart ? soon_ : bulk_;
    if (far == n_) bulk_.wait(far_);
    bulk_.phase(Phase::swap);
    if (!std::exchange(combined_, false)) combine_exchanges(bulk_, p);
    q.wait(bulk_);
    far_.wait(bulk_);
    exchange_and_solve(q, gemm_, L, p, C.columns(0, first), !apart);
    subtract_LU(q, gemm_, L, C.columns(0, soon), !apart);
    if (apart) chain_.add_flops(eliminate_flops(L, C.columns(0, soon)));
    soon_.wait(q);
    exchange_and_solve(bulk_, gemm_, L, p, C.columns(first, C.cols() - first));
    subtract_LU(bulk_, gemm_, L, C.columns(soon, C.cols() - soon));
    eliminate(far_, gemm_, L, p, part(j, far, n_));
    // Where the bulk has no more to do, it does this now; else the chain may be combining exchanges in the same memory.
    if (later_ && apart && soon > 0 && wanted == n_ && !panels_.empty()) {
      swap_rows_of_L(bulk_, A_, pivots_, panels_, j);
      panels_ = {0};  // they have seen the same exchanges
    }
    if (later_) return;
    bulk_.phase(Phase::swap);
    swap_rows(bulk_, part(j, 0, j), p);  // the rows of L to the left
  }

  const std::int64_t nb_, n_, far_columns_;
  Queue<Place>&far_, &bulk_, &near_, &soon_, &chain_;
  const Gemm<T, Place>& gemm_;
  MatrixView<T, Place> A_;
  Pivots<Place> pivots_;
  const bool alone_, later_;
  std::vector<std::int64_t> panels_;          // where those begin whose rows of L have not seen the same exchanges
  bool exchanged_ = true, combined_ = false;  // whether the rows of the step at hand have been; and what is combined
};

/// In panels of nb columns. On exit A holds U and, below the diagonal, L with its unit diagonal left out. A zero pivot is
/// recorded and the elimination goes on, as in LAPACK's getrf. A: n × n. Flops 2/3 n³.
template <class T, class Place>
void factor_lu(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
               std::int64_t nb) {
  RightLooking<T, Place>(q, gemm, A, pivots, nb).factor();
}

}  // namespace lasolve
