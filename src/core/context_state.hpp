// What a Context has, and how calls take turns on it.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "core/kept_queue.hpp"
#include "lasolve/context.hpp"

namespace lasolve {

struct Context::State {
  State(KeptQueue queue, CUstream_st* stream) : q(std::move(queue)), stream(stream) {}

  KeptQueue q;
  CUstream_st* const stream;  // null: none
  std::optional<Tuning> tuning;
  std::mutex guard;                   // who has it may use what is above
  std::atomic<std::thread::id> user;  // who has it
};
using SharedContext = std::shared_ptr<Context::State>;

/// A context that a factorization has for itself.
inline SharedContext own_context(int device) { return std::make_shared<Context::State>(keep_queue(device), nullptr); }

/// While this lives, nobody else uses a context. Throws std::invalid_argument where this thread does already.
class ContextInUse {
 public:
  explicit ContextInUse(Context::State& its) : its_(its) {
    require(its.user.load() != std::this_thread::get_id(),
            "a call from within another on the same factorization or context, as from Options::progress");
    its.guard.lock();
    its.user = std::this_thread::get_id();
  }
  ~ContextInUse() {
    its_.user = std::thread::id();
    its_.guard.unlock();
  }
  ContextInUse(const ContextInUse&) = delete;
  ContextInUse& operator=(const ContextInUse&) = delete;

 private:
  Context::State& its_;
};

}  // namespace lasolve
