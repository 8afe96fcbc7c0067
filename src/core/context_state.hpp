// What a Context has, and how calls take turns on it.
#pragma once

#include <optional>

#include "core/kept_queue.hpp"
#include "core/one_at_a_time.hpp"
#include "lasolve/context.hpp"

namespace lasolve {

struct Context::State {
  State(KeptQueue queue, CUstream_st* stream) : q(std::move(queue)), stream(stream) {}

  KeptQueue q;
  CUstream_st* const stream;  // null: none
  std::optional<Tuning> tuning;
  OneAtATime turns;  // who has one may use what is above
};
using SharedContext = std::shared_ptr<Context::State>;

/// A context that a factorization has for itself.
inline SharedContext own_context(int device) { return std::make_shared<Context::State>(keep_queue(device), nullptr); }

}  // namespace lasolve
