// Calls of several threads on one thing, one after the other.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// Something that one call at a time may use.
class OneAtATime {
 private:
  friend class Turn;
  std::mutex guard_;
  std::atomic<std::thread::id> user_;  // who has it
};

/// While this lives, nobody else has a turn. Throws std::invalid_argument where this thread has one already: it would wait for itself.
class Turn {
 public:
  explicit Turn(OneAtATime& of) : of_(of) {
    require(of.user_.load() != std::this_thread::get_id(),
            "a call from within another on the same factorization or context, as from a progress function");
    of.guard_.lock();
    of.user_ = std::this_thread::get_id();
  }
  ~Turn() {
    of_.user_ = std::thread::id();
    of_.guard_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  OneAtATime& of_;
};

}  // namespace lasolve
