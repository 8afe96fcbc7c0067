// What a Context has, and how calls take turns on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/kept_queue.hpp"
#include "core/one_at_a_time.hpp"
#include "lasolve/context.hpp"

namespace lasolve {

class GraphMemory;

struct Context::State {
  State(KeptQueue queue, CUstream_st* stream) : q(std::move(queue)), stream(stream) {}
  State(std::shared_ptr<GraphMemory> graph, std::uint64_t capture, KeptQueue queue, CUstream_st* stream)
      : graph(std::move(graph)), capture(capture), q(std::move(queue)), stream(stream) {}

  /// Of calls on a stream that is being captured, which the graph keeps: core/cuda/graph.hpp. Ends after what is in it.
  const std::shared_ptr<GraphMemory> graph;
  const std::uint64_t capture = 0;     // the number of the capture, as capture_of()
  std::weak_ptr<State> captured = {};  // that of the capture which `stream` was in last

  KeptQueue q;
  CUstream_st* const stream;  // null: none
  std::optional<Tuning> tuning;
  OneAtATime turns;  // who has one may use what is above
};
using SharedContext = std::shared_ptr<Context::State>;

/// A context that a factorization has for itself.
inline SharedContext own_context(int device) { return std::make_shared<Context::State>(keep_queue(device), nullptr); }

}  // namespace lasolve
