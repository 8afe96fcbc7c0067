// Factors over several cards. Each has its own block columns, and room for the panels of the others. Right-hand sides come from the host, and
// each card has the rows of them that belong to its columns.
#pragma once

#include <cmath>
#include <numeric>
#include <optional>

#include "solvers/cards/matrix.hpp"
#include "solvers/cards/solves.hpp"
#include "solvers/factors.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/prepare.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/diagonal.hpp"
#include "solvers/scales_on_device.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// What the plan of a recipe is asked for, and how it deals out its block columns.
template <class Space>
Blocking blocking_of(const Queue<Space>& q, const Recipe& by, std::int64_t n) {
  return {.n = n, .widths = by.widths, .lanes = lanes_at(q), .ahead = by.cards.count};
}
template <class Space>
Deal deal_of(const Queue<Space>& q, const Recipe& by, std::int64_t n) {
  return Deal(blocking_of(q, by, n), by.cards);
}
/// Of the factors that a card has room for while it factors.
inline std::int64_t columns_in_memory(const Deal& deal, int card, Schedule schedule, std::int64_t n) {
  return reads_few_columns(schedule) ? CardMemory(deal, card).columns() : n;
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
        schedule_(by.schedule),
        scales_(std::move(scales)),
        solves_(cards, deal_),
        parts_(std::size_t(cards.count())) {
    for (int card = 0; card < cards.count(); ++card) gemm_.emplace_back(backend, by.precision.products);
    Capabilities can;
    for (int card = 0; card < (cards.are_alike() ? 1 : cards.count()); ++card)
      cards_.on(card, [&] {
        const Capabilities its = capabilities_of<F>(cards_.queue(card), n_, by);
        can = card == 0 ? its : common(can, its);
      });
    ordered_ = ordered_plan(by.method, by.schedule, blocking_of(cards.queue(0), by, n_), can, by.cards);
  }

  void prepare(Queue<Cpu>&, const Recipe& by) override {
    on_all(cards_, [&](int card, Queue<Space>& q) {
      Part& part = parts_[std::size_t(card)];
      const std::int64_t columns = columns_in_memory(deal_, card, schedule_, n_);
      require_memory_of_card<Space>(double(n_) * double(columns) * sizeof(F));
      part.values = Matrix<F, Space>(n_, columns);
      part.notes =
          Matrix<std::int64_t, Space>(std::max<std::int64_t>(1, method_.interchanges(n_)), Pivots<Space>::columns + 1);
      part.buffers.emplace(ordered_->plan);
      if (lanes_at(q).single() && !gemm(card).prepares()) return;
      lasolve::prepare<F>(q, ordered_->plan, by.pivoting);
      if (gemm(card).prepares()) prepare_products(q, gemm(card), ordered_->plan);
      q.finish();
    });
  }

  void take(Queue<Cpu>&, MatrixView<const T>) override {
    on_all(cards_, [&](int card, Queue<Space>& q) {
      q.phase(Phase::to_device);
      fill(q, std::int64_t(-1), status(card));
      const ScalesOnDevice<Space> scales(q, scales_);
      if constexpr (std::is_same_v<F, T>)
        if (!(A_.keeps() && A_.deal() == deal_)) {
          for (const Range own : deal_.columns_of_card(card)) {
            const MatrixView<F, Space> to = to_factor(card, own);
            A_.bring(card, own.begin, to);
            if (scales_.any()) scales.scale_columns(q, own.begin, MatrixView<const F, Space>(to), to);
          }
          q.finish();
          return;
        }
      A_.for_own(deal_, card, [&](Range own, MatrixView<const T, Space> columns) {
        scales.scale_columns(q, own.begin, columns, to_factor(card, own));
      });
    });
  }
  Fetched<MatrixFacts> take_speculatively(Queue<Cpu>&, MatrixView<const T>) override { refuse(); }
  void mirror_triangle(Queue<Cpu>&, Uplo) override { refuse(); }

  void factor(Queue<Cpu>& q, const Recipe& by, const Arriving<T, Cpu>*, TaskClock<Cpu>*) override {
    q.finish();  // the times are those of the cards
    std::vector<Queue<Space>*> queues;
    std::vector<Workpiece<F, Space>> of;
    of.reserve(parts_.size());
    const Supply<F, Space> nothing_arrives;
    for (int card = 0; card < cards_.count(); ++card) {
      Part& part = parts_[std::size_t(card)];
      queues.push_back(&cards_.queue(card));
      of.push_back({gemm(card), part.values.view(), pivots_of(card), nothing_arrives, *part.buffers, by.pivoting});
    }
    const std::vector<Workpiece<F, Space>> all = of;
    for (Workpiece<F, Space>& its : of) its.cards = all;
    execute_on_cards<F, Space>(*ordered_, queues, of, [&](int card, const auto& work) {
      cards_.on(card, [&] {
        Queue<Space>& its = cards_.queue(card);
        its.take_times();
        if (card == 0) tell_progress(its);
        work();
        its.finish();
        its.on_progress({});
        parts_[std::size_t(card)].times = its.take_times();
      });
    });
    if (!reads_few_columns(schedule_))  // now that no card reads the columns of another
      on_all(cards_, [&](int card, Queue<Space>& its) { put_side_by_side(card, its), its.finish(); });
  }
  Fetched<Ending> ending(Queue<Cpu>&) override {
    std::vector<std::int64_t> failed(parts_.size());
    diagonal_.assign(std::size_t(n_), F(0));
    pivots_.assign(std::size_t(method_.interchanges(n_)), 0);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      failed[std::size_t(card)] = on_host<std::int64_t>(q, MatrixView<const std::int64_t, Space>(status(card)))(0, 0);
      for (const Range own : deal_.columns_of_card(card)) {
        const auto block = own_of(card, own).block(own.begin, 0, own.count(), own.count());
        const std::vector<F> its = diagonal_of<F>(q, MatrixView<const F, Space>(block));
        std::copy(its.begin(), its.end(), diagonal_.begin() + own.begin);
        if (pivots_.empty()) continue;
        const MatrixView<const std::int64_t, Space> its_pivots = pivots_of(card).p.block(own.begin, 0, own.count(), 1);
        const Matrix<std::int64_t> p = on_host<std::int64_t>(q, its_pivots);
        std::copy_n(&p(0, 0), own.count(), &pivots_[std::size_t(own.begin)]);
      }
    });
    failed_at_ = -1;
    for (const std::int64_t at : failed)
      if (at >= 0 && (failed_at_ < 0 || at < failed_at_)) failed_at_ = at;
    rows_.resize(std::size_t(n_));
    std::iota(rows_.begin(), rows_.end(), 0);
    for (std::size_t k = 0; k < pivots_.size(); ++k) std::swap(rows_[k], rows_[std::size_t(pivots_[k])]);
    return ending_by(failed_at_, diagonal_);
  }
  void release_workspace() override {}
  std::vector<T> diagonal_on_host(Queue<Cpu>&) override { return {diagonal_.begin(), diagonal_.end()}; }
  std::vector<std::int64_t> pivots_on_host(Queue<Cpu>&) override { return pivots_; }
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
  Exponents exponents() const override { return leave_range<F, T>(scales_) ? exponents_of<T> : exponents_of<F>; }
  const Scales& scales() const override { return scales_; }
  const MethodRecord& method() const override { return method_; }
  MatrixView<const T> values() const override { return {}; }
  std::optional<SizesOfFactors> sizes(Queue<Cpu>&) override {
    return sizes_of_factors(n_, [this](Factor which, const auto& weights) { return sizes_of(which, weights); });
  }
  const std::int64_t* failed_at() const override { return &failed_at_; }
  std::size_t bytes() const override {
    std::size_t all = 0;
    for (const Part& part : parts_) all += part.values.bytes() + part.notes.bytes();
    return all + solves_.bytes();
  }

 private:
  /// What a card has.
  struct Part {
    Matrix<F, Space> values;  // own columns, and room for those of others
    Matrix<std::int64_t, Space> notes;
    std::optional<Buffers<F, Space>> buffers;
    PhaseTimes times;
  };

  [[noreturn]] static void refuse() {
    throw std::logic_error("lasolve: factors over several cards are asked for what they have not");
  }
  /// How far the first card is, whose thread is the caller's.
  void tell_progress(Queue<Space>& first) {
    if (!cards_.progress()) return;
    double flops = 0;
    for (const Task& task : ordered_->plan.tasks)
      if (task.lane.card == 0) flops += task.flops();
    if (flops > 0) first.on_progress([this, flops](double done) { cards_.progress()(std::min(1.0, done / flops)); });
  }
  const Gemm<F, Space>& gemm(int card) const { return gemm_[std::size_t(card)]; }
  /// Own columns, where the plan has them, and where they are afterwards.
  MatrixView<F, Space> to_factor(int card, Range own) {
    return reads_few_columns(schedule_) ? own_of(card, own)
                                        : parts_[std::size_t(card)].values.view().columns(own.begin, own.count());
  }
  MatrixView<F, Space> own_of(int card, Range own) {
    return parts_[std::size_t(card)].values.view().columns(CardMemory(deal_, card).local(own).begin, own.count());
  }
  MatrixView<std::int64_t, Space> status(int card) {
    Matrix<std::int64_t, Space>& notes = parts_[std::size_t(card)].notes;
    return notes.view().block(0, notes.cols() - 1, 1, 1);
  }
  Pivots<Space> pivots_of(int card) {
    const auto notes = parts_[std::size_t(card)].notes.view();
    return Pivots<Space>::in(notes.block(0, 0, method_.interchanges(n_), Pivots<Space>::columns), status(card));
  }

  /// Each block column goes to the left, not further at a time than it has to go: then what is read is not yet overwritten.
  void put_side_by_side(int card, Queue<Space>& q) {
    for (const Range own : deal_.columns_of_card(card)) {
      const std::int64_t row = method_.is_in_lower_triangle() ? own.begin : 0;
      const MatrixView<F, Space> from = to_factor(card, own).block(row, 0, n_ - row, own.count()),
                                 to = own_of(card, own).block(row, 0, n_ - row, own.count());
      const std::int64_t way = (from.data() - to.data()) / from.ld();
      for (std::int64_t j = 0; way > 0 && j < own.count(); j += way) {
        const std::int64_t some = std::min(way, own.count() - j);
        convert(q, MatrixView<const F, Space>(from.columns(j, some)), to.columns(j, some));
      }
    }
  }

  SizesOfPart sizes_of(Factor which, const std::vector<double>& weights) {
    std::vector<std::vector<double>> parts(parts_.size(), std::vector<double>(std::size_t(n_), 0));
    std::vector<double> most(parts_.size(), 0);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      std::vector<double>& part = parts[std::size_t(card)];
      for (const Range own : deal_.columns_of_card(card)) {
        const std::vector<double> its(weights.begin() + own.begin, weights.begin() + own.end);
        const SizesOfPart sizes = *sizes_of_part(q, PartOfFactors<F, Space>{own_of(card, own), which, own.begin}, its);
        for (std::size_t i = 0; i < part.size(); ++i) part[i] += sizes.sums[i];
        most[std::size_t(card)] = larger(most[std::size_t(card)], sizes.most);
      }
    });
    return {largest(most), sum_of(parts)};
  }

  /// With P 2^e R A C = L U: X ← C inv(U) inv(L) P 2^e R B, or X ← R Pᵀ inv(Lᵀ) inv(Uᵀ) 2^e C B. Without interchanges P is I.
  void apply_to_some(MatrixView<const T> B, MatrixView<T> X, Op op) {
    const bool flips = op != Op::none;
    const std::int64_t nrhs = X.cols();
    const auto row = [&](std::int64_t i, bool permuted) { return permuted ? rows_[std::size_t(i)] : i; };
    const ScaledRhs<F, T> scaled(scales_, op, B);
    std::vector<Matrix<F>> own(parts_.size());
    const SettledCards<Space> settled(cards_);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      Matrix<F>& its = own[std::size_t(card)] = Matrix<F>(CardMemory(deal_, card).own(), nrhs);
      for_own_rows(card, [&](std::int64_t i, std::int64_t at) {
        const std::int64_t r = row(i, !flips);
        for (std::int64_t j = 0; j < nrhs; ++j) its(at, j) = scaled(r, j);
      });
      solves_.make_room(card, nrhs);
      if (!its.view().empty()) copy<F>(q, std::as_const(its).view(), solves_.own(card, nrhs));
    });
    for (const StoredTriangle& triangle : method_.triangles_of(op)) sweep(triangle, nrhs);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      Matrix<F>& its = own[std::size_t(card)];
      if (!its.view().empty()) copy<F>(q, MatrixView<const F, Space>(solves_.own(card, nrhs)), its.view());
      q.finish();
      for_own_rows(card, [&](std::int64_t i, std::int64_t at) {
        const std::int64_t r = row(i, flips);
        for (std::int64_t j = 0; j < nrhs; ++j) X(r, j) = scaled.solution(its(at, j), r, j);
      });
    });
  }
  /// f(row, where it is among those of the card).
  template <class Each>
  void for_own_rows(int card, Each f) {
    std::int64_t at = 0;
    for (const Range own : deal_.columns_of_card(card))
      for (std::int64_t i = own.begin; i < own.end; ++i) f(i, at++);
  }
  void sweep(const StoredTriangle& by, std::int64_t nrhs) {
    solves_.sweep(
        by, nrhs, [&](int card) { return parts_[std::size_t(card)].values.view(); },
        [&](int card) -> const Gemm<F, Space>& { return gemm(card); });
  }

  CardGroup<Space>& cards_;
  MatrixOnCards<T, Space>& A_;
  const MethodRecord& method_;
  const std::int64_t n_;
  const Deal deal_;
  const Schedule schedule_;
  const Scales scales_;
  SolvesOnCards<F, Space> solves_;
  std::vector<Gemm<F, Space>> gemm_;  // each counts for one thread
  std::shared_ptr<const OrderedPlan> ordered_;
  std::vector<Part> parts_;
  std::vector<F> diagonal_;
  std::vector<std::int64_t> pivots_, rows_;  // row i of P A is row rows_[i] of A
  std::int64_t failed_at_ = -1;
};

}  // namespace lasolve
