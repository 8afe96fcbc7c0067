// Runs a plan on several cards, a thread of the host for each.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "solvers/execute.hpp"

namespace lasolve {

/// f(card) by a thread for each, of which the calling one is the first. Rethrows what the first that failed has thrown, when no thread runs
/// any more: others may have failed because of it. `give_up` is called when one fails, or has no thread, so that others do not wait for it.
void on_each_card(
    int cards, const std::function<void(int)>& f, const std::function<void()>& give_up = [] {});

/// What the threads of cards have given to their queues, for which others wait before they wait for it on their own.
class GivenByCards {
 public:
  explicit GivenByCards(std::size_t tasks) : given_(tasks) {}

  /// False: somebody has failed, and no task comes any more.
  bool wait(std::size_t task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_[task] || failed_; });
    return !failed_;
  }
  void mark(std::size_t task) {
    const std::lock_guard lock(mutex_);
    given_[task] = true;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> given_;
  bool failed_ = false;
};

/// The ends of tasks, for which queues of all cards wait. Made before their threads begin. Where what is given to a queue is done, there is
/// nothing to wait for.
template <class Space>
class EndsOnCards {
 public:
  EndsOnCards(const OrderedPlan&, std::span<Queue<Space>* const>) {}
  void mark(Queue<Space>&, std::size_t) const {}
  void wait(Queue<Space>&, std::size_t, bool) const {}
};

/// The same as a part of the lines of one card.
template <class Space>
struct EndsOnCard {
  const EndsOnCards<Space>& of_all;
  void mark(Queue<Space>& q, std::size_t i) const { of_all.mark(q, i); }
  void wait(Queue<Space>& q, std::size_t i, bool is_phase) const { of_all.wait(q, i, is_phase); }
};

/// The tasks of one card, as the lines of a plan.
template <class T, class Space>
class LinesOfCard {
 public:
  LinesOfCard(Queue<Space>& q, const OrderedPlan& ordered, const Workpiece<T, Space>& of, int card,
              const EndsOnCards<Space>& ends, GivenByCards& given)
      : lines_(q, ordered, of, nullptr, {ends}, card), card_(card), given_(given) {}

  void wait(const Task& task, std::size_t k) {
    if (!goes_on_ || !is_own(task)) return;
    goes_on_ = given_.wait(k);
    if (goes_on_) lines_.wait(task, k);
  }
  bool give(const Task& task, std::size_t i) { return goes_on_ && (!is_own(task) || lines_.give(task, i)); }
  void mark(const Task& task, std::size_t i) {
    if (is_own(task)) lines_.mark(task, i), given_.mark(i);
  }
  void join() { lines_.join(); }

 private:
  bool is_own(const Task& task) const { return task.lane.card == card_; }

  QueueLines<T, Space, EndsOnCard<Space>> lines_;
  const int card_;
  GivenByCards& given_;
  bool goes_on_ = true;
};

/// Factors as a plan of so many cards says, each with the columns of A that are its own. On exit these are factored. `on_card(card, work)`
/// does work() on a thread where the device of the card is the current one. Rethrows what the first task throws that fails, when no
/// thread runs any more.
template <class T, class Space, class OnCard>
void execute_on_cards(const OrderedPlan& ordered, std::span<Queue<Space>* const> queues,
                      std::span<const Workpiece<T, Space>> of, OnCard on_card) {
  GivenByCards given(ordered.plan.tasks.size());
  const EndsOnCards<Space> ends(ordered, queues);
  const auto give_tasks = [&](int card) {
    on_card(card, [&] {
      LinesOfCard<T, Space> lines(*queues[std::size_t(card)], ordered, of[std::size_t(card)], card, ends, given);
      give_in_order(ordered.plan, ordered.waits, lines);
      lines.join();
    });
  };
  on_each_card(int(queues.size()), give_tasks, [&] { given.fail(); });
}

}  // namespace lasolve
