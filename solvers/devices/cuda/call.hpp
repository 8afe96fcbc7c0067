// What every call on a CUDA device begins with: its turn on a context, and the order after the caller's work.
#pragma once

#include <cuda_runtime.h>

#include "core/capture.hpp"
#include "core/context_state.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/graph.hpp"
#include "core/cuda/memory_in_order.hpp"
#include "core/settled.hpp"
#include "core/tuning.hpp"
#include "solvers/driver/engine.hpp"

namespace lasolve {

/// A call, which has a context for itself: its device is the current one, and memory is in the order of its queue.
class Call {
 public:
  explicit Call(Context::State& its)
      : turn_(its.turns),
        current_(*its.q),
        graph_(its.graph.get()),
        memory_(its.q->device(), its.q->stream()),
        settled_(*its.q) {}
  Call(Context::State& its, const Tuning& tuning) : Call(its) { its.q->tune(tuning); }

 private:
  Turn turn_;
  CurrentDevice current_;
  InGraph graph_;  // asks CUDA, which where a thread has no device would make a context on another
  MemoryInOrderOf memory_;
  Settled<Cuda> settled_;
};

/// That of the options, or of the context, or of the device. The queue gets it.
inline Tuning tuned(Context::State& its, const Options& options) {
  its.q->tune(its.tuning ? *its.tuning : tuning_for(its.q->properties()).values);
  if (options.tuning) its.q->tune(*options.tuning);
  return its.q->tuning();
}

inline bool is_default(CUstream_st* stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

inline void wait_for(Queue<Cuda>& q, CUstream_st* stream) {
  require(is_default(stream) || !capture_of(stream), "the stream whose work is to be waited for is being captured");
  q.wait(stream);
}

/// What the queue is given from now on comes after stream `after`, and after that of the context, which takes the place of a
/// default stream.
inline void wait_for_caller(Context::State& its, CUstream_st* after) {
  if (its.graph) return its.q->wait(its.stream);
  if (its.stream) wait_for(*its.q, its.stream);
  if (!its.stream || !is_default(after)) wait_for(*its.q, after);
  let_go_of_graphs();
}

/// Where the work of a call that nobody waits for is done: in the context of the caller, or, while its stream is being captured, in that
/// of the graph. Throws std::invalid_argument where `its` is of another graph, or of one that is no longer captured.
inline SharedContext where_captured(const SharedContext& its) {
  const CurrentDevice current(*its->q);
  const auto capture = capture_of(its->stream);
  if (its->graph) {
    require(capture == its->capture,
            "factors that were captured are there where their graph is launched: solve while it is being captured");
    return its;
  }
  if (!capture) return its;
  const Turn turn(its->turns);
  if (SharedContext known = its->captured.lock(); known && known->capture == *capture) return known;
  const WhileCapturing relaxed;
  const int device = its->q->device();
  auto state = std::make_unique<Context::State>(std::make_shared<GraphMemory>(), *capture,
                                                KeptQueue(new Queue<Cuda>(device), {.keeps = false}), its->stream);
  const SharedContext made(state.release(),
                           [](Context::State* its) { let_go_later(std::shared_ptr<Context::State>(its)); });
  made->tuning = its->tuning;
  keep_with_graph(its->stream, made);
  its->captured = made;
  return made;
}

}  // namespace lasolve
