// Runs a plan on several cards, a thread of the host for each.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "solvers/execute.hpp"

namespace lasolve {

/// A queue, and what a card has memory of.
template <class T, class Space>
struct Card {
  Queue<Space>& q;
  Workpiece<T, Space> of;
};

/// The ends of tasks, for which threads wait.
class EndsOnHost {
 public:
  explicit EndsOnHost(std::size_t tasks) : ended_(tasks) {}

  /// False: somebody has failed, and no end comes any more.
  bool wait(std::size_t task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_[task] || failure_; });
    return !failure_;
  }
  void mark(std::size_t task) {
    const std::lock_guard lock(mutex_);
    ended_[task] = true;
    changed_.notify_all();
  }
  void fail(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    changed_.notify_all();
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ended_;
  std::exception_ptr failure_;
};

/// Columns of L and their interchanges, to the memory of the card that they are sent to.
template <class T>
void send(const Task& task, const Workpiece<T, Cpu>& from, const Workpiece<T, Cpu>& to) {
  copy_on_host<T>(from.at(task.C), to.at(task.C));
  const Block& p = task.interchanges;
  if (!p.empty()) copy_on_host<std::int64_t>(from.pivots.p.block(p.i, 0, p.m, 1), to.pivots.p.block(p.i, 0, p.m, 1));
}

/// The tasks of one card, as the lines of a plan. On a queue that runs at once.
template <class T>
class LinesOfCard {
 public:
  LinesOfCard(const Plan& plan, std::span<const Card<T, Cpu>> cards, int card, EndsOnHost& ends)
      : method_(plan.method), cards_(cards), card_(card), ends_(ends) {}

  void wait(const Task& task, std::size_t k) { goes_on_ = goes_on_ && (!is_own(task) || ends_.wait(k)); }
  bool give(const Task& task, std::size_t) {
    if (!goes_on_ || !is_own(task)) return goes_on_;
    const auto& [q, of] = cards_[std::size_t(card_)];
    if (task.is(any_task::send))
      send(task, cards_[std::size_t(task.from)].of, of);
    else
      perform<T>(q, q, method_, task, of);
    return true;
  }
  void mark(const Task& task, std::size_t i) {
    if (is_own(task)) ends_.mark(i);
  }

 private:
  bool is_own(const Task& task) const { return task.lane.card == card_; }

  const Method method_;
  const std::span<const Card<T, Cpu>> cards_;
  const int card_;
  EndsOnHost& ends_;
  bool goes_on_ = true;
};

/// Factors as a plan of so many cards says, each with the columns of A that are its own. On exit these are factored. Rethrows what a task
/// throws, when no thread runs any more.
template <class T>
void execute_on_cards(const OrderedPlan& ordered, std::span<const Card<T, Cpu>> cards) {
  EndsOnHost ends(ordered.plan.tasks.size());
  const auto work = [&](int card) {
    try {
      give_in_order(ordered.plan, ordered.waits, LinesOfCard<T>(ordered.plan, cards, card, ends));
    } catch (...) {
      ends.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    for (int card = 1; card < int(cards.size()); ++card) others.emplace_back(work, card);
    work(0);
  }
  ends.rethrow();
}

}  // namespace lasolve
