// Plans on CUDA: what they are lowered for, what the tasks that lowering makes are done by, and how queues wait for tasks.
#pragma once

#include <algorithm>
#include <vector>

#include "solvers/devices/cuda/panel.cuh"
#include "solvers/devices/cuda/task_clock.hpp"
#include "solvers/devices/cuda/trsm/sync_free.cuh"
#include "solvers/devices/cuda/tuning.cuh"
#include "solvers/devices/primitives.hpp"
#include "solvers/lower.hpp"

namespace lasolve {

inline const Lanes& lanes_at(const Queue<Cuda>&) { return four_lanes; }

template <class T>
Capabilities capabilities_of(const Queue<Cuda>& q, std::int64_t n) {
  return capabilities_of(q.properties(), q.tuning(), precision_of<T>, n, interchanges_L_at_the_end(q, n));
}

template <class T>
void perform_lowered(Queue<Cuda>& q, const Task& task, const Workpiece<T, Cuda>& of) {
  const auto p = of.pivots.block(task.interchanges.i, task.interchanges.m);
  switch (task.kind) {
    case TaskKind::panel_in_place:
      return factor_in_place<T>(q, {of.at(task.C), p, of.buffers.packed_L11.data()});
    case TaskKind::lookahead_update:
      return lookahead_update<T>(q, {of.at(task.L), p, of.buffers.packed_L11.data()}, of.at(task.C));
    case TaskKind::combine:
      return combine_interchanges(q, p);
    case TaskKind::begin_later:
      return begin_later_interchanges(q, of.pivots.block(task.C.i, task.C.m));
    case TaskKind::prepend:
      return prepend_interchanges(q, p);
    default:
      throw std::logic_error("lasolve: a plan has a task that its method has not");
  }
}

/// Whether the thread blocks of its kernels count or wait for each other, with memory of their queue.
inline bool has_messages(const Task& task) {
  return task.kind == TaskKind::panel || task.kind == TaskKind::panel_in_place ||
         task.kind == TaskKind::lookahead_update || task.kind == TaskKind::solve;
}

template <class T>
void prepare(Queue<Cuda>& bulk, const Plan& plan) {
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
    if (plan.method == Method::lu && has([](const Task& task) { return task.kind == TaskKind::panel; }))
      q.scratch<T>(PackedL11<T>::elements, 1);
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
