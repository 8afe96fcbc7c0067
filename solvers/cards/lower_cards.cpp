#include "solvers/cards/lower_cards.hpp"

#include <tuple>

namespace lasolve {

Deal::Deal(const Blocking& by, const CardList& cards) : cards_(cards.count), turns_(turns_of(cards)) {
  require(cards_ > 0, "there is no card to deal out columns to");
  std::int64_t begin = 0;
  for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end)) {
    if (ends_.empty() || p.end - begin > by.widths.panel)
      begin = p.begin, ends_.push_back(p.end);
    else
      ends_.back() = p.end;
  }
  if (by.columns() < by.n) ends_.push_back(by.n);  // of a wide matrix
  const std::size_t last = ends_.size() - 1;
  if (ends_.size() > 1 && ends_[last] - ends_[last - 1] == 1) ends_.erase(ends_.end() - 2);
}

std::size_t Deal::block_of(std::int64_t j) const {
  return std::size_t(std::upper_bound(ends_.begin(), ends_.end(), j) - ends_.begin());
}

std::vector<Range> Deal::columns_of_card(int card) const {
  std::vector<Range> own;
  for (std::size_t b = 0; b < ends_.size(); ++b)
    if (card_of_block(b) == card) own.push_back(columns_of(b));
  return own;
}

CardMemory::CardMemory(const Deal& deal, int card) : deal_(deal), card_(card), others_(most_of_others, deal.blocks()) {
  for (std::size_t b = 0; b < deal.blocks(); ++b) {
    const std::int64_t columns = deal.columns_of(b).count();
    begins_.push_back(own_);
    if (deal.card_of_block(b) == card)
      own_ += columns;
    else
      room_ = std::max(room_, columns);
  }
}

Range CardMemory::local(Range own) const {
  const std::size_t block = deal_.block_of(own.begin);
  const std::int64_t begin = begins_[block] + own.begin - deal_.columns_of(block).begin;
  return {begin, begin + own.count()};
}

Range CardMemory::receive(Range columns) {
  const std::size_t block = deal_.block_of(columns.begin);
  if (std::find(others_.begin(), others_.end(), block) == others_.end())
    others_[next_] = block, next_ = (next_ + 1) % others_.size();
  return received(columns);
}

Range CardMemory::received(Range columns) const {
  const std::size_t block = deal_.block_of(columns.begin);
  const auto place = std::find(others_.begin(), others_.end(), block);
  if (place == others_.end()) throw std::logic_error("lasolve: a card reads columns of another that it has no more");
  const std::int64_t begin = own_ + (place - others_.begin()) * room_ + columns.begin - deal_.columns_of(block).begin;
  return {begin, begin + columns.count()};
}

namespace {

/// f(columns) for the part of them in each block column.
template <class F>
void for_each_part(const Deal& deal, Range columns, F f) {
  for (std::int64_t j = columns.begin; j < columns.end;) {
    const Range part{j, std::min(columns.end, deal.columns_of(deal.block_of(j)).end)};
    f(part);
    j = part.end;
  }
}

/// Columns of the matrix that a block is of, or has the interchanges of; else none.
Range columns_of(const Block& b) {
  return b.of == Resource::matrix ? b.columns() : b.of == Resource::pivots ? b.rows() : Range();
}

class Dealing {
 public:
  Dealing(const Plan& plan, const Deal& deal)
      : plan_(plan),
        deal_(deal),
        copies_(std::size_t(deal.cards())),
        last_read_(deal.blocks()),
        has_handed_on_(copies_.size()) {
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      has_pivots_ = has_pivots_ || !plan.tasks[i].interchanges.empty();
      has_partition_ = has_partition_ || plan.tasks[i].lane.multiprocessors != 0;
      for (const Block& b : reads_of(plan.tasks[i]))
        for_each_part(deal, columns_of(b), [&](Range part) { last_read_[deal.block_of(part.begin)] = i; });
    }
  }

  std::vector<Task> tasks() && {
    for (; at_ < plan_.tasks.size(); ++at_) {
      const Task& task = plan_.tasks[at_];
      if (task.is(any_task::stop_if_failed)) continue;  // others would wait for ever
      if (task.C.of != Resource::matrix) {
        for (int card = 0; card < deal_.cards(); ++card) give(task, card);
        continue;
      }
      for (int card = 0; card < deal_.cards(); ++card)
        for_each_part(deal_, task.C.columns(), [&](Range part) {
          if (deal_.card_of(part.begin) == card) give(in_columns(task, part), card);
        });
    }
    return std::move(tasks_);
  }

 private:
  static Task in_columns(const Task& task, Range part) {
    if (part == task.C.columns()) return task;
    if (!task.type->in_columns) throw std::logic_error("lasolve: a task of several cards cannot be done in parts");
    return task.type->in_columns(task, part);
  }

  void give(Task task, int card) {
    task.lane.card = card;
    if (const Block turn = turn_of(task, card); !turn.empty()) task.device = turn;
    const BlockList reads = reads_of(task);
    const auto handed_on = std::find_if(reads.begin(), reads.end(), is_handed_on);
    const Block with = handed_on != reads.end() && !has_handed_on_[std::size_t(card)] ? *handed_on : Block();
    for (const Block& b : reads) for_each_part(deal_, columns_of(b), [&](Range part) { bring(part, task.lane, with); });
    if (!with.empty()) has_handed_on_[std::size_t(card)] = true;
    const BlockList writes = writes_of(task);
    if (std::any_of(writes.begin(), writes.end(), is_handed_on))
      has_handed_on_.assign(copies_.size(), false), has_handed_on_[std::size_t(card)] = true;
    tasks_.push_back(task);
    if (task.C.of != Resource::matrix || deal_.card_of(task.C.j) != card) return;
    for (int other = 0; other < deal_.cards(); ++other)
      if (other != card) change_copies(task, other);
  }

  /// Of products that are quick a kernel has all multiprocessors until it ends. A panel that shares them with it waits so long, and the other
  /// cards for the panel. So where a card has the next panel, what it does to all columns behind comes after it, or after those of
  /// its steps that the schedule has first.
  Block turn_of(const Task& task, int card) {
    const auto turn_of_block = [](std::size_t b) {
      return Block(Resource::device, {std::int64_t(b), std::int64_t(b) + 1});
    };
    if (!has_partition_ || task.lane.multiprocessors != 0) return {};
    if (task.type->picture == TaskType::panel) {
      const std::size_t block = deal_.block_of(task.C.j);
      return block < begin_behind_ ? Block() : turn_of_block(block);
    }
    if (!task.type->is_product || task.lane.rank != plan_.lanes.bulk.rank) return {};
    const std::size_t panel = deal_.block_of(task.L.j), next = panel + 1;
    const bool is_behind = task.L.i >= deal_.columns_of(panel).end && next < deal_.blocks();
    if (!is_behind || deal_.card_of_block(next) != card) return {};
    begin_behind_ = std::max(begin_behind_, next + 1);
    return turn_of_block(next);
  }

  /// What one task leaves to another beside the matrix and its interchanges.
  static bool is_handed_on(const Block& b) { return b.of == Resource::packed_L11; }

  /// Columns of L, all in one block column, to the card of a lane, as far as it has them not. And what was handed on with them.
  void bring(Range columns, Lane to, const Block& with) {
    if (!plan_.lanes.single())
      to.rank = plan_.lanes.chain.rank, to.line = plan_.lanes.chain.line + copies_line, to.multiprocessors = 0;
    const int from = deal_.card_of(columns.begin);
    auto& copies = copies_[std::size_t(to.card)];
    for (std::int64_t j = columns.begin; from != to.card && j < columns.end;) {
      Range part{j, columns.end};
      bool is_there = false;
      for (const Range& copy : copies) {
        if (copy.begin > j) part.end = std::min(part.end, copy.begin);
        if (copy.begin <= j && j < copy.end) part.end = std::min(part.end, copy.end), is_there = true;
      }
      if (!is_there) {
        Task send{
            .type = &any_task::send, .lane = to, .timed = false, .C = {{j, plan_.m}, part}, .U = with, .from = from};
        if (has_pivots_) send.interchanges = {Resource::pivots, part};
        tasks_.push_back(send);
        copies.push_back(part);
      }
      j = part.end;
    }
  }

  /// What a task has done to columns of its card, as far as another has copies of them.
  void change_copies(const Task& task, int card) {
    auto& copies = copies_[std::size_t(card)];
    const bool reads_no_block = task.L.empty() && task.U.empty() && task.type->in_columns;
    for (const Range copy : std::vector<Range>(copies)) {
      if (!overlap({{copy.begin, plan_.m}, copy}, {task.C.rows(), task.C.columns()})) continue;
      const Range both{std::max(copy.begin, task.C.j), std::min(copy.end, task.C.columns().end)};
      if (reads_no_block && last_read_[deal_.block_of(copy.begin)] > at_)
        give(in_columns(task, both), card);
      else
        std::erase(copies, copy);
    }
  }

  const Plan& plan_;
  const Deal& deal_;
  std::size_t at_ = 0;
  std::vector<std::vector<Range>> copies_;  // of columns of L, by card
  std::vector<std::size_t> last_read_;      // by block column
  std::vector<bool> has_handed_on_;         // by card: what was handed on last
  bool has_pivots_ = false, has_partition_ = false;
  std::size_t begin_behind_ = 0;  // of earlier block columns some product did not wait for all steps
  std::vector<Task> tasks_;
};

/// Whether `next` does the same to the columns behind those of `task`, so that both are one task.
bool joins(const Task& task, const Task& next) {
  const auto but_for_columns = [](const Task& t) {
    return std::tuple(t.type, t.lane, t.in_panel, t.timed, t.role, t.C.rows(), t.C.of, t.U.rows(), t.U.of, t.L,
                      t.interchanges, t.device);
  };
  const auto follow = [](const Block& b, const Block& next) { return b.empty() || b.columns().end == next.j; };
  return task.type->in_columns == task_in_columns && !task.C.empty() &&
         but_for_columns(task) == but_for_columns(next) && follow(task.C, next.C) && follow(task.U, next.U);
}

void join(Task& task, const Task& next) { task.C.n += next.C.n, task.U.n += next.U.n; }

}  // namespace

Plan lower_cards(const Plan& plan, const Deal& deal) {
  Plan dealt = plan;
  if (deal.cards() == 1) return dealt;
  dealt.cards = deal.cards();
  dealt.tasks = Dealing(plan, deal).tasks();
  return dealt;
}

Plan in_memory_of_cards(const Plan& of_cards, const Deal& deal) {
  Plan plan = of_cards;
  if (deal.cards() == 1) return plan;
  plan.tasks.clear();
  std::vector<CardMemory> memory;
  for (int card = 0; card < deal.cards(); ++card) memory.emplace_back(deal, card);
  for (Task task : of_cards.tasks) {
    const int card = task.lane.card;
    CardMemory& its = memory[std::size_t(card)];
    const auto move = [&](Block& b) {
      if (b.empty() || b.of != Resource::matrix) return;
      const Range columns = b.columns();
      b.j = (deal.card_of(columns.begin) == card ? its.local(columns) : its.received(columns)).begin;
    };
    if (task.is(any_task::send)) {
      task.L = task.C;
      task.L.j = memory[std::size_t(task.from)].local(task.C.columns()).begin;
      task.C.j = its.receive(task.C.columns()).begin;
    } else {
      for (Block* b : {&task.C, &task.L, &task.U}) move(*b);
    }
    if (!plan.tasks.empty() && joins(plan.tasks.back(), task))
      join(plan.tasks.back(), task);
    else
      plan.tasks.push_back(task);
  }
  return plan;
}

}  // namespace lasolve
