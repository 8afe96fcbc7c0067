// What an exception must not leave behind: work that is under way in memory which goes with the exception.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "lasolve/queue.hpp"

namespace lasolve {

/// Declared after the memory that a queue works in. When an exception leaves the scope, this is destroyed before that memory. It
/// waits for all work, first for what `arrives` lets the queue wait for. The queue then forgets what it was doing.
template <class Space>
class Settled {
 public:
  explicit Settled(Queue<Space>& q, std::function<void()> arrives = {}) : q_(q), arrives_(std::move(arrives)) {}
  ~Settled() {
    if (std::uncaught_exceptions() <= before_) return;
    try {
      if (arrives_) arrives_();
    } catch (...) {
    }
    q_.abandon();
  }
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;

 private:
  Queue<Space>& q_;
  std::function<void()> arrives_;
  int before_ = std::uncaught_exceptions();
};

}  // namespace lasolve
