#include "core/kept_queue.hpp"

#include <map>
#include <mutex>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/graph.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

/// Each has some hundred MB on Hopper, most of it the workspaces of cuBLAS.
constexpr std::size_t most_idle = 8;

using Idle = std::vector<std::unique_ptr<Queue<Cuda>>>;

std::mutex guard;
Idle& idle_of(int device) {
  constinit static NeverDestroyed<std::map<int, Idle>> all;
  return all.get()[device];
}

}  // namespace

KeptQueue keep_queue(int device) {
  {
    const std::lock_guard lock(guard);
    if (Idle& idle = idle_of(device); !idle.empty()) {
      KeptQueue last(idle.back().release());
      idle.pop_back();
      return last;
    }
  }
  return KeptQueue(new Queue<Cuda>(device));
}

void GiveBackQueue::operator()(Queue<Cuda>* given) const noexcept {
  const CurrentDevice current(given->device(), std::nothrow);
  const WhileCapturing relaxed;
  std::unique_ptr<Queue<Cuda>> q(given);
  if (!keeps || !q->renew()) return;
  try {
    const std::lock_guard lock(guard);
    if (Idle& idle = idle_of(q->device()); idle.size() < most_idle) idle.push_back(std::move(q));
  } catch (const std::bad_alloc&) {  // then it is not kept
  }
}

void destroy_idle_queues(int device) noexcept {
  Idle idle;
  try {
    const std::lock_guard lock(guard);
    idle.swap(idle_of(device));
  } catch (const std::bad_alloc&) {  // then there are none
  }
}

}  // namespace lasolve
