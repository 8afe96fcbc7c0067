// A over several cards: copies of its columns where there is room for them, else made again when they are read.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/spread.hpp"
#include "solvers/cards/group.hpp"
#include "solvers/cards/lower_cards.hpp"
#include "solvers/copy.hpp"
#include "solvers/refine/diagonal.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Of vectors of the same length, of each card one.
inline std::vector<double> sum_of(const std::vector<std::vector<double>>& parts) {
  std::vector<double> sum(parts[0].size(), 0);
  for (const auto& part : parts)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  return sum;
}

template <class T, class Space>
class MatrixOnCards final : public SpreadMatrix<T, Cpu> {
 public:
  /// `source` may be asked by the threads of all cards at once. `keeps`: each card has a copy of the columns that are dealt to it.
  MatrixOnCards(CardGroup<Space>& cards, Supply<T, Space> source, std::int64_t n, Deal deal, bool keeps)
      : cards_(cards), source_(std::move(source)), n_(n), deal_(std::move(deal)), keeps_(keeps), kept_(cards.count()) {
    if (!keeps_) return;
    on_all(cards_, [&](int card, Queue<Space>& q) {
      const CardMemory its(deal_, card);
      Matrix<T, Space>& kept = kept_[std::size_t(card)];
      require_memory_of_card<Space>(double(n_) * double(its.own()) * sizeof(T));
      kept = Matrix<T, Space>(n_, its.own());
      q.phase(Phase::to_device);
      for (const Range own : deal_.columns_of_card(card)) source_(q, own.begin, kept_of(card, own));
      q.finish();
    });
  }

  const Deal& deal() const { return deal_; }
  bool keeps() const { return keeps_; }
  std::size_t bytes(int card) const { return kept_[std::size_t(card)].bytes(); }
  std::int64_t order() const override { return n_; }

  /// Enqueues what writes columns first, … to the memory of a card. On that card.
  void bring(int card, std::int64_t first, MatrixView<T, Space> to) {
    Queue<Space>& q = cards_.queue(card);
    if (!keeps_) return source_(q, first, to);
    for (std::int64_t j = 0; j < to.cols();) {
      const std::size_t block = deal_.block_of(first + j);
      const Range part{first + j, std::min(first + to.cols(), deal_.columns_of(block).end)};
      const int owner = deal_.card_of(part.begin);
      const MatrixView<const T, Space> from = kept_of(owner, part);
      const auto there = to.columns(j, part.count());
      owner == card ? convert<T>(q, from, there) : copy_from_card<T>(q, from, there);
      j += part.count();
    }
  }

  /// use(columns, view of them) on a card, for block columns of a deal that are its own.
  template <class Use>
  void for_own(const Deal& deal, int card, Use use) {
    Matrix<T, Space> brought;
    for (const Range own : deal.columns_of_card(card)) {
      if (keeps_ && deal == deal_) {
        use(own, MatrixView<const T, Space>(kept_of(card, own)));
        continue;
      }
      if (brought.cols() < own.count()) brought = {}, brought = Matrix<T, Space>(n_, own.count());
      const auto some = brought.view().columns(0, own.count());
      bring(card, own.begin, some);
      use(own, MatrixView<const T, Space>(some));
    }
    cards_.queue(card).finish();
  }

  void residual(Op op, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) override {
    const std::int64_t nrhs = X.cols();
    std::vector<Matrix<T>> parts(std::size_t(cards_.count()));  // B − A X, of each card what its columns add
    on_all(cards_, [&](int card, Queue<Space>& q) {
      Matrix<T, Space> whole(n_, nrhs);  // X, or what is added
      if (op != Op::none)
        copy<T>(q, X, whole.view());
      else if (card == 0)
        copy<T>(q, B, whole.view());
      else
        fill(q, T(0), whole.view());
      for_own_at_once(card, [&](const std::vector<Range>& own, MatrixView<const T, Space> A) {
        const Matrix<T> rows = rows_of(op == Op::none ? X : B, own);
        Matrix<T, Space> there(rows.rows(), nrhs);
        copy<T>(q, rows, there.view());
        if (op == Op::none) return subtract(q, Operand<T, Space>(A), there.view(), whole.view());
        subtract(q, Operand<T, Space>(A, op), whole.view(), there.view());
        put_rows(on_host<T>(q, MatrixView<const T, Space>(there)), own, R);
      });
      if (op == Op::none) parts[std::size_t(card)] = on_host<T>(q, MatrixView<const T, Space>(whole));
    });
    if (op != Op::none) return;
    for (std::int64_t j = 0; j < nrhs; ++j)
      for (std::int64_t i = 0; i < n_; ++i) {
        T sum = parts[0](i, j);
        for (std::size_t card = 1; card < parts.size(); ++card) sum += parts[card](i, j);
        R(i, j) = sum;
      }
  }

  std::vector<double> row_sums(Op op, double scale, const std::vector<double>& weights) override {
    std::vector<std::vector<double>> parts(std::size_t(cards_.count()), std::vector<double>(std::size_t(n_), 0));
    const MatrixView<const double> all_weights(weights.data(), std::int64_t(weights.size()), 1, n_);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      std::vector<double>& part = parts[std::size_t(card)];
      for_own_at_once(card, [&](const std::vector<Range>& own, MatrixView<const T, Space> A) {
        const Operand<T, Space> columns(A, op);
        std::vector<double> its = weights;
        if (op == Op::none && !weights.empty()) {
          const Matrix<double> some = rows_of(all_weights, own);
          its.assign(some.data(), some.data() + some.rows());
        }
        auto sums =
            weights.empty() ? row_sums_of_magnitudes(q, columns, scale) : row_sums_of_magnitudes(q, columns, its);
        std::size_t i = 0;
        for (const Range rows : op == Op::none ? std::vector<Range>{{0, n_}} : own)
          for (std::int64_t row = rows.begin; row < rows.end; ++row) part[std::size_t(row)] += (*sums)[i++];
      });
    });
    return sum_of(parts);
  }

  double largest_element() override {
    std::vector<double> parts(std::size_t(cards_.count()), 0);
    on_all(cards_, [&](int card, Queue<Space>& q) {
      for_own(deal_, card, [&](Range, MatrixView<const T, Space> A) {
        double& part = parts[std::size_t(card)];
        part = larger(part, largest(*column_norms<T>(q, A)));
      });
    });
    return largest(parts);
  }

  std::vector<T> diagonal() override {
    std::vector<T> all(static_cast<std::size_t>(n_));
    on_all(cards_, [&](int card, Queue<Space>& q) {
      for_own(deal_, card, [&](Range own, MatrixView<const T, Space> A) {
        const std::vector<T> its = diagonal_of<T>(q, A.block(own.begin, 0, own.count(), own.count()));
        std::copy(its.begin(), its.end(), all.begin() + own.begin);
      });
    });
    return all;
  }

  void columns(std::int64_t first, MatrixView<T> to) override {
    cards_.on(0, [&] {
      Matrix<T, Space> some(n_, to.cols());
      bring(0, first, some.view());
      copy<T>(cards_.queue(0), std::as_const(some).view(), to);
      cards_.queue(0).finish();
    });
  }

 private:
  MatrixView<T, Space> kept_of(int card, Range own) {
    return kept_[std::size_t(card)].view().columns(CardMemory(deal_, card).local(own).begin, own.count());
  }
  /// The same, of its own deal, and all at once where they lie side by side.
  template <class Use>
  void for_own_at_once(int card, Use use) {
    if (!keeps_) return for_own(deal_, card, [&](Range own, auto columns) { use(std::vector<Range>{own}, columns); });
    use(deal_.columns_of_card(card), MatrixView<const T, Space>(kept_[std::size_t(card)].view()));
    cards_.queue(card).finish();
  }
  template <class U>
  static Matrix<U> rows_of(MatrixView<const U> X, const std::vector<Range>& ranges) {
    std::int64_t count = 0;
    for (const Range rows : ranges) count += rows.count();
    Matrix<U> some(count, X.cols());
    for (std::int64_t j = 0; j < X.cols(); ++j) {
      U* to = some.data() + j * some.ld();
      for (const Range rows : ranges) to = std::copy_n(X.data() + j * X.ld() + rows.begin, rows.count(), to);
    }
    return some;
  }
  static void put_rows(const Matrix<T>& some, const std::vector<Range>& ranges, MatrixView<T> X) {
    for (std::int64_t j = 0; j < X.cols(); ++j) {
      const T* from = some.data() + j * some.ld();
      for (const Range rows : ranges)
        std::copy_n(from, rows.count(), X.data() + j * X.ld() + rows.begin), from += rows.count();
    }
  }
  static void subtract(Queue<Space>& q, Operand<T, Space> A, MatrixView<const T, Space> x, MatrixView<T, Space> r) {
    lasolve::residual<T>(q, A, x, MatrixView<const T, Space>(r), r);
  }

  CardGroup<Space>& cards_;
  const Supply<T, Space> source_;
  const std::int64_t n_;
  const Deal deal_;
  const bool keeps_;
  std::vector<Matrix<T, Space>> kept_;
};

}  // namespace lasolve
