// Calls of several threads on one thing, one after the other.
#pragma once

#include <atomic>
#include <thread>

#include "core/process.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {

/// Something that one call at a time may use. A turn that was under way when the process forked is over in the child.
class OneAtATime {
 private:
  friend class Turn;
  void take() noexcept {
    for (unsigned seen = 0; !taken_by_.compare_exchange_weak(seen, generation());)
      if (seen == generation()) {
        taken_by_.wait(seen);
        seen = 0;
      }
    comes_after(&taken_by_);
  }
  void give_back() noexcept {
    comes_before(&taken_by_);
    taken_by_ = 0;
    taken_by_.notify_one();
  }

  std::atomic<unsigned> taken_by_ = 0;  // the process whose thread has it, as generation() counts; 0: nobody
  std::atomic<std::thread::id> user_;   // who has it
};

/// While this lives, nobody else has a turn. Throws std::invalid_argument where this thread has one already: it would wait for itself.
class Turn {
 public:
  explicit Turn(OneAtATime& of) : of_(of) {
    require(of.taken_by_ != generation() || of.user_.load() != std::this_thread::get_id(),
            "a call from within another on the same factorization or context, as from a progress function");
    of.take();
    of.user_ = std::this_thread::get_id();
  }
  ~Turn() {
    of_.user_ = std::thread::id();
    of_.give_back();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  OneAtATime& of_;
};

}  // namespace lasolve
