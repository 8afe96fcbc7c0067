// What a signal handler has to know of the files that are open.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace lasolve::io {

/// A few records that a signal handler may read while any thread adds and removes some. One that finds no free slot is
/// not seen.
template <class Record, std::size_t slots>
class SeenBySignals {
 public:
  /// Returns the slot, or −1.
  int add(const Record& record) noexcept {
    for (std::size_t i = 0; i < slots; ++i) {
      int expected = unused;
      if (!all_[i].state.compare_exchange_strong(expected, taken)) continue;
      all_[i].record = record;
      all_[i].state = seen;
      return int(i);
    }
    return -1;
  }
  void remove(int slot) noexcept {
    if (slot >= 0) all_[std::size_t(slot)].state = unused;
  }
  template <class F>
  void for_each(F f) const noexcept {
    for (const Slot& slot : all_)
      if (slot.state == seen) f(slot.record);
  }

 private:
  enum State { unused, taken, seen };
  struct Slot {
    std::atomic<int> state = unused;
    Record record;
  };
  static_assert(std::atomic<int>::is_always_lock_free);
  std::array<Slot, slots> all_;
};

}  // namespace lasolve::io
