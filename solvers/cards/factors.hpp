// Factors over several cards. Each has its own block columns, and room for the panels of the others. Right-hand sides are on the host; a
// solve goes through the block columns one after the other, and takes the vectors from card to card.
#pragma once

#include <cmath>
#include <numeric>
#include <optional>

#include "solvers/cards/matrix.hpp"
#include "solvers/factors.hpp"
#include "solvers/prepare.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// How a recipe deals out the block columns of its plan.
template <class Space>
Deal deal_of(const Queue<Space>& q, const Recipe& by, std::int64_t n) {
  return Deal({.n = n, .widths = by.widths, .lanes = lanes_at(q)}, int(by.cards.count));
}

/// Of a matrix of T, computed and stored in F.
template <class T, class Space, class F>
class DecompositionOnCards final : public Decomposition<T, Cpu> {
 public:
  DecompositionOnCards(CardGroup<Space>& cards, MatrixOnCards<T, Space>& A, const GemmBackend<Space>& backend,
                       const Recipe& by, Scales scales)
      : cards_(cards),
        A_(A),
        method_(record_of(by.method)),
        n_(A.order()),
        deal_(deal_of(cards.queue(0), by, n_)),
        scales_(std::move(scales)),
        parts_(std::size_t(cards.count())) {
    for (int card = 0; card < cards.count(); ++card) gemm_.emplace_back(backend, by.precision.products);
    cards_.on(0, [&] {
      const Queue<Space>& q = cards_.queue(0);
      const Blocking blocking{.n = n_, .widths = by.widths, .lanes = lanes_at(q)};
      ordered_ =
          ordered_plan(by.method, by.schedule, blocking, capabilities_of<F>(q, n_, by.quick_products), cards_.count());
    });
  }

  void prepare(Queue<Cpu>&, const Recipe&) override {
    on_all(cards_, [&](int card, Queue<Space>& q) {
      const CardMemory its(deal_, card);
      Part& part = parts_[std::size_t(card)];
      require_memory_of(cards_, card, double(n_) * double(its.columns()) * sizeof(F));
      part.values = Matrix<F, Space>(n_, its.columns());
      part.notes = Matrix<std::int64_t, Space>(std::max<std::int64_t>(1, method_.has_pivots ? n_ : 0),
                                               Pivots<Space>::columns + 1);
      part.buffers.emplace(ordered_->plan);
      if (lanes_at(q).single() && !gemm(card).prepares()) return;
      lasolve::prepare<F>(q, ordered_->plan);
      if (gemm(card).prepares()) prepare_products(q, gemm(card), ordered_->plan);
      q.finish();
    });
  }

  void take(Queue<Cpu>&, MatrixView<const T>) override {
    on_all(cards_, [&](int card, Queue<Space>& q) {
      q.phase(Phase::to_device);
      fill(q, std::int64_t(-1), status(card));
      const auto scaled = [&](MatrixView<F, Space> to) {
        if (scales_.exponent != 0) scale<F>(q, scales_.exponent, MatrixView<const F, Space>(to), to);
      };
      if (std::is_same_v<F, T> && !(A_.keeps() && A_.deal() == deal_)) {
        if constexpr (std::is_same_v<F, T>)
          for (const Range own : deal_.columns_of_card(card))
            A_.bring(card, own.begin, own_of(card, own)), scaled(own_of(card, own));
        q.finish();
        return;
      }
      A_.for_own(deal_, card, [&](Range own, MatrixView<const T, Space> columns) {
        convert<T>(q, columns, own_of(card, own));
        scaled(own_of(card, own));
      });
    });
  }
  Fetched<MatrixFacts> take_on_trial(Queue<Cpu>&, MatrixView<const T>) override { refuse(); }
  void mirror_triangle(Queue<Cpu>&, Uplo) override { refuse(); }

  void factor(Queue<Cpu>& q, const Recipe&, const Arriving<T, Cpu>*, TaskClock<Cpu>*) override {
    q.finish();  // the times are those of the cards
    std::vector<Queue<Space>*> queues;
    std::vector<Workpiece<F, Space>> of;
    of.reserve(parts_.size());
    const Supply<F, Space> nothing_arrives;
    for (int card = 0; card < cards_.count(); ++card) {
      Part& part = parts_[std::size_t(card)];
      queues.push_back(&cards_.queue(card));
      of.push_back({gemm(card), part.values.view(), pivots_of(card), nothing_arrives, *part.buffers});
    }
    const std::vector<Workpiece<F, Space>> all = of;
    for (Workpiece<F, Space>& its : of) its.cards = all;
    execute_on_cards<F, Space>(*ordered_, queues, of, [&](int card, const auto& work) {
      cards_.on(card, [&] {
        Queue<Space>& its = cards_.queue(card);
        its.take_times();
        work();
        its.finish();
        parts_[std::size_t(card)].times = its.take_times();
      });
    });
  }
  Fetched<Ending> ending(Queue<Cpu>&) override {
    std::vector<Ending> all(parts_.size());
    pivots_.assign(std::size_t(method_.has_pivots ? n_ : 0), 0);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      Ending& its = all[std::size_t(card)];
      its.failed_at = on_host<std::int64_t>(q, MatrixView<const std::int64_t, Space>(status(card)))(0, 0);
      bool first = true;
      for (const Range own : deal_.columns_of_card(card)) {
        const auto block = own_of(card, own).block(own.begin, 0, own.count(), own.count());
        const Matrix<F> diagonal =
            on_host<F>(q, MatrixView<const F, Space>(block.data(), 1, block.cols(), block.ld() + 1));
        for (std::int64_t j = 0; j < own.count(); ++j) {
          const double size = std::abs(double(diagonal(0, j)));
          its.least = std::exchange(first, false) ? size : std::min(its.least, size),
          its.most = std::max(its.most, size);
        }
        if (pivots_.empty()) continue;
        const MatrixView<const std::int64_t, Space> its_pivots = pivots_of(card).p.block(own.begin, 0, own.count(), 1);
        const Matrix<std::int64_t> p = on_host<std::int64_t>(q, its_pivots);
        std::copy_n(&p(0, 0), own.count(), &pivots_[std::size_t(own.begin)]);
      }
    });
    Ending ending = all[0];
    for (std::size_t card = 1; card < all.size(); ++card) {
      if (deal_.columns_of_card(int(card)).empty()) continue;
      ending.least = std::min(ending.least, all[card].least), ending.most = std::max(ending.most, all[card].most);
      if (const std::int64_t at = all[card].failed_at; at >= 0)
        ending.failed_at = ending.failed_at < 0 ? at : std::min(ending.failed_at, at);
    }
    failed_at_ = ending.failed_at;
    rows_.resize(std::size_t(n_));
    std::iota(rows_.begin(), rows_.end(), 0);
    for (std::size_t k = 0; k < pivots_.size(); ++k) std::swap(rows_[k], rows_[std::size_t(pivots_[k])]);
    return ending;
  }
  void release_workspace() override {}
  std::vector<ProductsOf> products_of() const override { return {}; }
  std::string backend() const override { return gemm_[0].backend().name; }
  std::vector<CardReport> cards() const override {
    std::vector<CardReport> all;
    for (int card = 0; card < cards_.count(); ++card) {
      CardReport its;
      its.device = cards_.name(card), its.columns = CardMemory(deal_, card).own();
      its.bytes = double(parts_[std::size_t(card)].values.bytes() + A_.bytes(card));
      for (const Task& task : ordered_->plan.tasks)
        if (task.lane.card == card && task.is(any_task::send))
          its.received_bytes += double(task.C.m) * double(task.C.n) * sizeof(F);
      its.phases = parts_[std::size_t(card)].times;
      all.push_back(its);
    }
    return all;
  }

  std::int64_t order() const override { return n_; }
  void apply(Queue<Cpu>&, MatrixView<const T> B, MatrixView<T> X, Op op) override {
    constexpr std::int64_t at_once = 512;
    for (std::int64_t j = 0; j < X.cols(); j += at_once) {
      const std::int64_t some = std::min(at_once, X.cols() - j);
      apply_to_some(B.columns(j, some), X.columns(j, some), op);
    }
  }
  void apply_in_T(Queue<Cpu>& q, MatrixView<const T> B, MatrixView<T> X, Op op) override { apply(q, B, X, op); }
  Exponents exponents() const override { return exponents_of<F>; }
  const Scales& scales() const override { return scales_; }
  const MethodRecord& method() const override { return method_; }
  MatrixView<const T> values() const override { return {}; }
  Pivots<Cpu> pivots() override { refuse(); }
  const std::int64_t* failed_at() const override { return &failed_at_; }
  std::size_t bytes() const override {
    std::size_t all = 0;
    for (const Part& part : parts_) all += part.values.bytes() + part.notes.bytes() + part.x.bytes();
    return all;
  }

 private:
  /// What a card has.
  struct Part {
    Matrix<F, Space> values;  // own columns, and room for those of others
    Matrix<std::int64_t, Space> notes;
    std::optional<Buffers<F, Space>> buffers;
    Matrix<F, Space> x;  // right-hand sides, while it has them
    PhaseTimes times;
  };

  [[noreturn]] static void refuse() {
    throw std::logic_error("lasolve: factors over several cards are asked for what they have not");
  }
  const Gemm<F, Space>& gemm(int card) const { return gemm_[std::size_t(card)]; }
  MatrixView<F, Space> own_of(int card, Range own) {
    return parts_[std::size_t(card)].values.view().columns(CardMemory(deal_, card).local(own).begin, own.count());
  }
  MatrixView<std::int64_t, Space> status(int card) {
    Matrix<std::int64_t, Space>& notes = parts_[std::size_t(card)].notes;
    return notes.view().block(0, notes.cols() - 1, 1, 1);
  }
  Pivots<Space> pivots_of(int card) {
    const std::int64_t n = method_.has_pivots ? n_ : 0;
    return Pivots<Space>::in(parts_[std::size_t(card)].notes.view().block(0, 0, n, Pivots<Space>::columns),
                             status(card));
  }

  /// With 2^e P A = L U: X ← inv(U) inv(L) P 2^e B, or X ← Pᵀ inv(Lᵀ) inv(Uᵀ) 2^e B.
  void apply_to_some(MatrixView<const T> B, MatrixView<T> X, Op op) {
    const bool is_lu = method_.has_pivots, flips = is_lu && op != Op::none;
    Matrix<F> v(n_, X.cols());
    for (std::int64_t j = 0; j < v.cols(); ++j)
      for (std::int64_t i = 0; i < n_; ++i)
        v(i, j) = F(std::ldexp(B(flips ? i : rows_[std::size_t(i)], j), scales_.exponent));
    int at = 0;
    cards_.on(0, [&] { copy<F>(cards_.queue(0), std::as_const(v).view(), room_on(0, v.cols())); });
    if (flips) {
      sweep({.lower = false, .unit = false, .op = Op::transpose}, at, v.cols());
      sweep({.lower = true, .unit = true, .op = Op::transpose}, at, v.cols());
    } else if (is_lu) {
      sweep({.lower = true, .unit = true, .op = Op::none}, at, v.cols());
      sweep({.lower = false, .unit = false, .op = Op::none}, at, v.cols());
    } else {
      sweep({.lower = true, .unit = false, .op = Op::none}, at, v.cols());
      sweep({.lower = true, .unit = false, .op = Op::transpose}, at, v.cols());
    }
    cards_.on(at, [&] {
      copy<F>(cards_.queue(at), MatrixView<const F, Space>(room_on(at, v.cols())), v.view());
      cards_.queue(at).finish();
    });
    for (int card = 0; card < cards_.count(); ++card) cards_.on(card, [&] { cards_.queue(card).finish(); });
    for (std::int64_t j = 0; j < v.cols(); ++j)
      for (std::int64_t i = 0; i < n_; ++i) X(flips ? rows_[std::size_t(i)] : i, j) = T(v(i, j));
  }
  MatrixView<F, Space> room_on(int card, std::int64_t columns) {
    Matrix<F, Space>& x = parts_[std::size_t(card)].x;
    if (x.cols() < columns) cards_.queue(card).finish(), x = {}, x = Matrix<F, Space>(n_, columns);
    return x.view().columns(0, columns);
  }

  struct Sweep {
    bool lower, unit;
    Op op;
  };
  /// X ← inv(op(T)) X for a triangle T of the factors. X is on card `at`, and in the end on another.
  void sweep(const Sweep& by, int& at, std::int64_t nrhs) {
    const bool forward = by.lower == (by.op == Op::none);
    for (std::size_t b = 0; b < deal_.blocks(); ++b) {
      const Range own = deal_.columns_of(forward ? b : deal_.blocks() - 1 - b);
      const int card = deal_.card_of(own.begin);
      cards_.on(card, [&] {
        Queue<Space>& q = cards_.queue(card);
        const MatrixView<F, Space> x = room_on(card, nrhs);
        if (card != at) {
          q.wait(cards_.queue(at));
          copy_from_card<F>(q, parts_[std::size_t(at)].x.view().columns(0, nrhs), x);
          at = card;
        }
        const MatrixView<F, Space> columns = own_of(card, own);
        const Range rest = by.lower ? Range{own.end, n_} : Range{0, own.begin};
        const auto of = [&](Range rows) { return x.block(rows.begin, 0, rows.count(), nrhs); };
        const Triangle<F, Space> diagonal{columns.block(own.begin, 0, own.count(), own.count()), by.lower, by.unit};
        const auto beside = columns.block(rest.begin, 0, rest.count(), own.count());
        q.phase(Phase::solve);
        if (by.op == Op::none) {
          trsm_left(q, gemm(card), diagonal, of(own));
          if (!rest.empty()) gemm(card)(q, F(-1), beside, of(own), F(1), of(rest));
        } else {
          if (!rest.empty()) gemm(card)(q, F(-1), transposed(beside), of(rest), F(1), of(own));
          trsm_left(q, gemm(card), diagonal.transposed(), of(own));
        }
      });
    }
  }

  CardGroup<Space>& cards_;
  MatrixOnCards<T, Space>& A_;
  const MethodRecord& method_;
  const std::int64_t n_;
  const Deal deal_;
  const Scales scales_;
  std::vector<Gemm<F, Space>> gemm_;  // each counts for one thread
  std::shared_ptr<const OrderedPlan> ordered_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> pivots_, rows_;  // row i of P A is row rows_[i] of A
  std::int64_t failed_at_ = -1;
};

}  // namespace lasolve
