// Triangular solves with factors whose block columns are dealt out to several cards. All cards work at once, each with its own columns.
//
// With T: x_k = inv(T_kk) (b_k − Σ_j T_kj x_j). Each card adds up what its columns take from all rows, and the owner of block column k
// collects that of rows k (fan-in). With Tᵀ: x_k = inv(T_kkᵀ) (b_k − Σ_j T_jkᵀ x_j). The owner of block column k has all T_jk, and x_k goes
// to all others (fan-out).
//
// One thread of the host gives work to all queues. A queue waits for what another was given before, so none waits in vain. What the
// next block column needs is given first.
// Source: Heath & Romine, "Parallel solution of triangular systems on distributed-memory multiprocessors", 1988.
#pragma once

#include <vector>

#include "solvers/cards/group.hpp"
#include "solvers/cards/lower_cards.hpp"
#include "solvers/method.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

template <class F, class Space>
class SolvesOnCards {
 public:
  SolvesOnCards(CardGroup<Space>& cards, const Deal& deal)
      : cards_(cards), deal_(deal), vectors_(std::size_t(cards.count())) {
    for (int card = 0; card < cards.count(); ++card) memory_.emplace_back(deal, card);
  }

  /// Room for so many right-hand sides. On that card.
  void make_room(int card, std::int64_t nrhs) {
    Vectors& its = vectors_[std::size_t(card)];
    if (its.all.cols() >= nrhs) return;
    cards_.queue(card).finish(), its = {};
    std::int64_t widest = 0;
    for (std::size_t b = 0; b < deal_.blocks(); ++b) widest = std::max(widest, deal_.columns_of(b).count());
    its.own = Matrix<F, Space>(memory_[std::size_t(card)].own(), nrhs);
    its.all = Matrix<F, Space>(deal_.columns_of(deal_.blocks() - 1).end, nrhs);
    its.part = Matrix<F, Space>(widest, nrhs);
  }
  /// The rows of X that belong to the columns of a card, in the order of these.
  MatrixView<F, Space> own(int card, std::int64_t nrhs) {
    return vectors_[std::size_t(card)].own.view().columns(0, nrhs);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Vectors& its : vectors_) sum += its.own.bytes() + its.all.bytes() + its.part.bytes();
    return sum;
  }

  /// X ← inv(op(T)) X, given to the queues of all cards. `values(card)`: own columns of the factors, side by side; `gemm(card)`: products.
  template <class Values, class Products>
  void sweep(const StoredTriangle& by, std::int64_t nrhs, const Values& values, const Products& gemm) {
    const bool forward = by.lower == (by.op == Op::none);
    const Run<Values, Products> run{*this, by, forward, nrhs, std::int64_t(deal_.blocks()), values, gemm};
    for (int card = 0; card < cards_.count(); ++card)  // vectors of the last sweep have been read
      cards_.on(card, [&] { wait_for_others(card); });
    by.op == Op::none ? run.fan_in() : run.fan_out();
  }

 private:
  /// Of a card. `all`: what its columns take from all rows, or all of X; `part`: what another's take from a block of rows.
  struct Vectors {
    Matrix<F, Space> own, all, part;
  };

  void wait_for_others(int card) {
    for (int other = 0; other < cards_.count(); ++other)
      if (other != card) cards_.queue(card).wait(cards_.queue(other));
  }

  /// A sweep, in which block columns have their turns: 0, 1, …
  template <class Values, class Products>
  struct Run {
    SolvesOnCards& of;
    const StoredTriangle by;
    const bool forward;
    const std::int64_t nrhs, turns;
    const Values& values;
    const Products& gemm;

    Range columns(std::int64_t turn) const { return of.deal_.columns_of(block_of(turn)); }
    /// Of turns first, …, end − 1.
    Range columns(std::int64_t first, std::int64_t end) const {
      const Range a = columns(first), b = columns(end - 1);
      return forward ? Range{a.begin, b.end} : Range{b.begin, a.end};
    }
    std::size_t block_of(std::int64_t turn) const { return std::size_t(forward ? turn : turns - 1 - turn); }
    int card(std::int64_t turn) const { return of.deal_.card_of_block(block_of(turn)); }
    Queue<Space>& queue(int card) const { return of.cards_.queue(card); }
    Range local(std::int64_t turn) const { return of.memory_[std::size_t(card(turn))].local(columns(turn)); }
    MatrixView<F, Space> own(int card, Range its) const {
      return of.vectors_[std::size_t(card)].own.view().block(its.begin, 0, its.count(), nrhs);
    }
    MatrixView<F, Space> all(int card, Range rows) const {
      return of.vectors_[std::size_t(card)].all.view().block(rows.begin, 0, rows.count(), nrhs);
    }
    MatrixView<const F, Space> block(int card, Range rows, Range its) const {
      return MatrixView<F, Space>(values(card)).block(rows.begin, its.begin, rows.count(), its.count());
    }
    Triangle<F, Space> diagonal(std::int64_t turn) const {
      return {block(card(turn), columns(turn), local(turn)), by.lower, by.unit};
    }

    /// C ← C − T X. With few columns it is read at the speed of memory, for which the backend is not made.
    void subtract(int card, Operand<F, Space> T, MatrixView<const F, Space> X, MatrixView<F, Space> C) const {
      if (C.empty()) return;
      Queue<Space>& q = queue(card);
      if (nrhs <= q.tuning().solve_few_rhs)
        lasolve::residual<F>(q, T, X, MatrixView<const F, Space>(C), C);
      else
        gemm(card)(q, F(-1), T, X, F(1), C);
    }

    void fan_in() const {
      for (int card = 0; card < of.cards_.count(); ++card)
        of.cards_.on(card, [&] { fill(queue(card), F(0), all(card, {0, columns(0, turns).count()})); });
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        of.cards_.on(card(turn), [&] {
          collect(turn);
          trsm_left(queue(card(turn)), gemm(card(turn)), diagonal(turn), own(card(turn), local(turn)));
        });
        take(turn, turn + 1, turn + 2);
        take(turn - 1, turn + 1, turn_after(turn - 1) + 1);  // until the same card has its next turn
        take(turn_before(turn + 1), turn + 2, turns);  // the rest, just before that: nobody else waits for it earlier
      }
    }
    /// The next and the last turn of the same card; `turns` and −1 where there is none.
    std::int64_t turn_after(std::int64_t turn) const {
      std::int64_t next = turn + 1;
      while (turn >= 0 && next < turns && card(next) != card(turn)) ++next;
      return next;
    }
    std::int64_t turn_before(std::int64_t turn) const {
      std::int64_t last = turn - 1;
      while (turn < turns && last >= 0 && card(last) != card(turn)) --last;
      return last;
    }
    /// What block columns have taken from the rows of one.
    void collect(std::int64_t turn) const {
      const int its = card(turn);
      Queue<Space>& q = queue(its);
      const Range rows = columns(turn);
      const MatrixView<F, Space> x = own(its, local(turn));
      add(q, MatrixView<const F, Space>(all(its, rows)), x);
      for (int other = 0; other < of.cards_.count(); ++other) {
        if (other == its) continue;
        const auto part = of.vectors_[std::size_t(its)].part.view().block(0, 0, rows.count(), nrhs);
        q.wait(queue(other));
        copy_from_card<F>(q, all(other, rows), part);
        add(q, MatrixView<const F, Space>(part), x);
      }
    }
    /// What one takes from the rows of turns first, …, end − 1.
    void take(std::int64_t turn, std::int64_t first, std::int64_t end) const {
      end = std::min(end, turns);
      if (turn < 0 || first >= end) return;
      const int its = card(turn);
      const Range rows = columns(first, end);
      of.cards_.on(its, [&] { subtract(its, block(its, rows, local(turn)), own(its, local(turn)), all(its, rows)); });
    }

    void fan_out() const {
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        const int its = card(turn);
        of.cards_.on(its, [&] {
          if (turn > 0) take_transposed(its, turn - 1, local(turn));
          trsm_left(queue(its), gemm(its), diagonal(turn).transposed(), own(its, local(turn)));
        });
        for (int other = 0; other < of.cards_.count(); ++other)
          if (other != its)
            of.cards_.on(other, [&] {
              take_from_rest(other, turn);
              queue(other).wait(queue(its));
              copy_from_card<F>(queue(other), own(its, local(turn)), all(other, columns(turn)));
            });
        of.cards_.on(its, [&] {
          convert(queue(its), MatrixView<const F, Space>(own(its, local(turn))), all(its, columns(turn)));
          take_from_rest(its, turn);
        });
      }
    }
    /// What the x of a turn takes from own columns of a card.
    void take_transposed(int card, std::int64_t turn, Range its) const {
      subtract(card, transposed(block(card, columns(turn), its)), all(card, columns(turn)), own(card, its));
    }
    /// The x of the last turn takes from own columns whose turns come after this one.
    void take_from_rest(int card, std::int64_t turn) const {
      if (turn == 0) return;
      const Range done = columns(turn);
      std::int64_t before = 0;
      for (const Range own : of.deal_.columns_of_card(card))
        if (own.begin < done.begin || (forward && own.begin == done.begin)) before += own.count();
      const std::int64_t count = of.memory_[std::size_t(card)].own();
      take_transposed(card, turn - 1, forward ? Range{before, count} : Range{0, before});
    }
  };

  CardGroup<Space>& cards_;
  const Deal& deal_;
  std::vector<CardMemory> memory_;
  std::vector<Vectors> vectors_;
};

}  // namespace lasolve
