// Several devices of one kind that work on one system, each with a queue.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/settled.hpp"
#include "lasolve/names.hpp"
#include "solvers/cards/execute.hpp"

namespace lasolve {

/// f is run by on(card, f) where the device of that card is the current one, its memory is in the order of its queue, and nothing is left
/// under way when f throws. One thread at a time may have a card.
template <class Space>
class CardGroup;

/// f(), whose MachineError is then one that names the card.
template <class F>
void naming(const std::string& card, F f) {
  try {
    f();
  } catch (const OutOfMemory& e) {
    throw OutOfMemory(card, e);
  } catch (const MachineError& e) {
    throw MachineError(card + ": " + e.what());
  }
}

/// Threads of the host that share its memory: for tests, and for who has no devices.
template <>
class CardGroup<Cpu> {
 public:
  explicit CardGroup(const Options& options) : progress_(options.progress) {
    for (const int card : options.cards) {
      names_.push_back(name_of(Device::cpu) + std::string(":") + std::to_string(card));
      all_.push_back(std::make_unique<Queue<Cpu>>(1));
      if (options.tuning) all_.back()->tune(*options.tuning);
    }
  }
  int count() const { return int(all_.size()); }
  Queue<Cpu>& queue(int card) { return *all_[std::size_t(card)]; }
  const std::string& name(int card) const { return names_[std::size_t(card)]; }
  int device(int) const { return 0; }
  bool are_alike() const { return true; }
  const std::function<void(double)>& progress() const { return progress_; }
  /// A further queue of a card, which nobody else gives work to.
  std::unique_ptr<Queue<Cpu>> line(int) const { return std::make_unique<Queue<Cpu>>(1); }
  template <class F>
  void on(int card, F f) {
    naming(name(card), [&] {
      const Settled<Cpu> settled(queue(card));
      f();
    });
  }

 private:
  const std::function<void(double)> progress_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Queue<Cpu>>> all_;
};

/// f(card, queue) for all at the same time. Rethrows what the first that failed has thrown.
template <class Space, class F>
void on_all(CardGroup<Space>& cards, F f) {
  on_each_card(cards.count(), [&](int card) { cards.on(card, [&] { f(card, cards.queue(card)); }); });
}

/// When an exception leaves the scope, nothing is left under way on any card.
template <class Space>
class SettledCards {
 public:
  explicit SettledCards(CardGroup<Space>& cards) : cards_(cards) {}
  ~SettledCards() {
    if (std::uncaught_exceptions() <= before_) return;
    for (int card = 0; card < cards_.count(); ++card) try {
        cards_.on(card, [&] { cards_.queue(card).abandon(); });
      } catch (...) {
      }
  }
  SettledCards(const SettledCards&) = delete;
  SettledCards& operator=(const SettledCards&) = delete;

 private:
  CardGroup<Space>& cards_;
  const int before_ = std::uncaught_exceptions();
};

/// Throws OutOfMemory where a card has not so many bytes. On that card, which then is named.
template <class Space>
void require_memory_of_card(double bytes) {
  constexpr double not_asked_for = 1 << 20;
  if (bytes <= not_asked_for) return;
  if (const std::size_t free = Memory<Space>::available(std::size_t(bytes)); bytes > double(free))
    throw OutOfMemory(std::is_same_v<Space, Cuda> ? "device" : "host", std::size_t(bytes), free);
}

}  // namespace lasolve
