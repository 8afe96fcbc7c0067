// Several cards: who does which task of a plan, and what travels for that.
#pragma once

#include <vector>

#include "solvers/cards/card_list.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

/// Block columns, dealt out to cards in turns: panels of a plan or, where these are narrower than most, some side by side. A last one of a
/// single column goes with the one before it: triangular solves for one column have roundings of their own. Whose turn it is: turns_of().
class Deal {
 public:
  Deal(const Blocking&, const CardList&);
  /// To so many, in equal shares.
  Deal(const Blocking& by, int cards) : Deal(by, CardList{.count = std::uint8_t(cards)}) {}

  int cards() const { return cards_; }
  std::size_t blocks() const { return ends_.size(); }
  /// Which block column has column j, and whose it is.
  std::size_t block_of(std::int64_t j) const;
  Range columns_of(std::size_t block) const { return {block == 0 ? 0 : ends_[block - 1], ends_[block]}; }
  int card_of_block(std::size_t block) const { return turns_[block % turns_.size()]; }
  int card_of(std::int64_t j) const { return card_of_block(block_of(j)); }
  /// Those of a card, in ascending order.
  std::vector<Range> columns_of_card(int card) const;
  bool operator==(const Deal&) const = default;

 private:
  int cards_;
  std::vector<int> turns_;
  std::vector<std::int64_t> ends_;
};

/// A pure function. Each task is done by the card that has the columns that it writes, in parts where several have them; what is not of the
/// matrix, as the combined interchanges, each card has for itself. A card has memory of its own, with all rows of its columns, and with
/// copies of columns of L from their diagonal down:
///   any_task::send brings a card columns of L, with their interchanges, when a task of that card reads them first
///   an interchange of rows of L is done by all cards that have copies, if these are still read: so nothing travels twice
/// Each block of a task is in the memory of one card, that of its lane. Nobody is told that the factorization has failed: each card notes
/// it in its own status. For one card a plan stays what it is.
/// Throws std::logic_error where a task of several block columns cannot be done in parts, as the solves of a Cholesky by halves.
Plan lower_cards(const Plan&, const Deal&);

/// Whether a schedule reads one block column of L at a time, so that a card needs room for few of those of others. Else each card
/// has a place for each column of A, and all of L in the end.
constexpr bool reads_few_columns(Schedule schedule) { return schedule == Schedule::right_looking; }

/// Where the memory of a card has columns: its own side by side, and behind them room for three block columns of others, which take turns.
class CardMemory {
 public:
  CardMemory(const Deal&, int card);

  std::int64_t columns() const { return own_ + room_ * most_of_others; }
  std::int64_t own() const { return own_; }
  /// Own columns, all in one block column.
  Range local(Range own) const;
  /// Where columns of another card go that are sent now.
  Range receive(Range);
  /// Where they are. Throws std::logic_error where others have taken their place.
  Range received(Range) const;

 private:
  static constexpr std::int64_t most_of_others = 3;  // block columns
  const Deal& deal_;
  int card_;
  std::int64_t own_ = 0, room_ = 0;
  std::vector<std::int64_t> begins_;  // of each block column, if it is an own one
  std::vector<std::size_t> others_;   // the block column in each place
  std::size_t next_ = 0;
};

/// The same plan with blocks where they are in the memory of their cards: so that what takes the place of another waits for who reads that.
/// A send has its source in L. For schedules that read few columns of L at a time.
Plan in_memory_of_cards(const Plan& of_cards, const Deal&);

}  // namespace lasolve
