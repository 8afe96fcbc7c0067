// Plans on CUDA: what they are lowered for, and how queues wait for tasks.
#pragma once

#include <algorithm>
#include <vector>

#include "solvers/devices/cuda/task_clock.hpp"
#include "solvers/devices/cuda/trsm/sync_free.cuh"
#include "solvers/devices/cuda/tuning.cuh"
#include "solvers/devices/primitives.hpp"
#include "solvers/lower.hpp"
#include "solvers/lu/cuda/perform.cuh"

namespace lasolve {

inline const Lanes& lanes_at(const Queue<Cuda>&) { return four_lanes; }

template <class T>
Capabilities capabilities_of(const Queue<Cuda>& q, std::int64_t n, const Recipe& by) {
  Capabilities can =
      for_recipe(capabilities_of(q.properties(), q.tuning(), precision_of<T>, n, interchanges_L_at_the_end(q, n)), by);
  if (!by.quick_products) return can;
  const PanelPartition panels = panel_partition(q.properties(), q.tuning(), n, by.pivoting);
  if (panels.multiprocessors > 0 && q.can_share_out(panels.multiprocessors)) can.panel_partition = panels;
  return can;
}

/// Whether the thread blocks of its kernels count or wait for each other, with memory of their queue.
inline bool has_messages(const Task& task) {
  return task.type->picture == TaskType::panel || task.type->picture == TaskType::solve ||
         task.is(lu_task::lookahead_update);
}

template <class T>
void prepare(Queue<Cuda>& bulk, const Plan& plan, Pivoting pivoting) {
  const auto blocks = std::size_t(bulk.multiprocessors());
  const std::size_t of_solves = blocks * 8 * std::size_t(sync_free_order<T>(bulk.properties())) * sizeof(Packet);
  const auto for_messages = [&](Queue<Cuda>& q) {
    q.packet_buffer(std::max(of_solves, most_packet_bytes), 0), q.counter(), q.wait_limit();
  };
  for (const Lane lane : lanes_of(plan)) {
    Queue<Cuda>& q = queue_of(bulk, lane);
    const auto has = [&](auto what) {
      return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                         [&](const Task& task) { return task.lane == lane && what(task); });
    };
    if (has(has_messages)) for_messages(q);
    const bool in_place = pivoting == Pivoting::tournament;
    if (has([&](const Task& task) {
          return task.is(lu_task::panel) || (in_place && task.is(lu_task::panel_in_place));
        }))
      q.scratch<T>(scratch_of_panel<T>(plan.m, pivoting), 1);
  }
  for_messages(bulk);  // solves with the factors go there
  bulk.results(0);
}

/// An event for each task that is still to be waited for. Those of tasks that have been waited for are used again.
template <>
class TaskEnds<Cuda> {
 public:
  TaskEnds(Queue<Cuda>& bulk, const OrderedPlan& ordered) : bulk_(bulk), ends_(ordered.plan.tasks.size()) {
    for (std::size_t i = 0; i < ends_.size(); ++i)
      for (const std::int32_t k : ordered.waits.of(i)) ++ends_[std::size_t(k)].waits;
  }

  void mark(Queue<Cuda>& q, std::size_t i) {
    if (free_.empty()) free_.push_back(made_++);
    ends_[i].event = free_.back();
    free_.pop_back();
    q.record(bulk_.event(ends_[i].event));
  }

  void wait(Queue<Cuda>& q, std::size_t i, bool is_phase) {
    CUevent_st* const event = bulk_.event(ends_[i].event);
    is_phase ? q.wait(event) : q.join(event);
    if (--ends_[i].waits == 0) free_.push_back(ends_[i].event);
  }

 private:
  struct End {
    int waits = 0;
    std::size_t event = 0;
  };

  Queue<Cuda>& bulk_;
  std::vector<End> ends_;
  std::vector<std::size_t> free_;
  std::size_t made_ = 0;
};

}  // namespace lasolve
