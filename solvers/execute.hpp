// Runs a plan on a device: the only code that knows of both. Lanes become queues, waits become events, and each task is timed as
// the phase that it says. What a task does is one call or a few of the primitives of the device.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "core/named_range.hpp"
#include "core/transfer.hpp"
#include "solvers/methods.hpp"
#include "solvers/ordered_plan.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// To ← from, which is in the memory of another card. On CUDA: core/transfer.hpp.
template <class T>
void copy_from_card(Queue<Cpu>&, std::type_identity_t<MatrixView<const T>> from,
                    std::type_identity_t<MatrixView<T>> to) {
  copy_on_host<T>(from, to);
}
/// The interchanges of some panels, as far as their task has written them.
template <class Space>
void send_interchanges(Queue<Space>& q, const Pivots<Space>& from, const Pivots<Space>& to) {
  copy_from_card<std::int64_t>(q, from.p, to.p);
}
/// What a panel leaves to the next task beside them.
template <class T, class Space>
void send_handed_on(Queue<Space>&, const Buffers<T, Space>&, Buffers<T, Space>&) {
  throw std::logic_error("lasolve: a plan was lowered for another device than this");
}

/// Columns of L, their interchanges and what was handed on with them, by the card that they are sent to.
template <class T, class Space>
void receive(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& from, const Workpiece<T, Space>& to) {
  const Block& p = task.interchanges;
  if (!p.empty()) send_interchanges(q, from.pivots.block(p.i, p.m), to.pivots.block(p.i, p.m));
  if (!task.U.empty()) send_handed_on(q, from.buffers, to.buffers);
  copy_from_card<T>(q, from.at(task.L.empty() ? task.C : task.L), to.at(task.C));
}

/// Gives a task to q, as a phase of its own or a part of the one that `in_phase` is in. False: the factorization is known to have
/// failed, and the rest may be left out.
template <class T, class Space>
bool perform(Queue<Space>& q, Queue<Space>& in_phase, Method method, const Task& task, const Workpiece<T, Space>& of) {
  if (task.is(any_task::stop_if_failed)) return !known_to_have_failed(q, of.pivots.zero);
  if (task.is(any_task::arrive)) {
    of.supply(q, task.C.j, of.at(task.C));
    return true;
  }
  if (task.timed)
    q.phase(task.phase(), task.flops());
  else if (const double flops = task.flops(); flops > 0)
    in_phase.add_flops(flops);
  if (task.is(any_task::send))
    receive<T>(q, task, of.cards[std::size_t(task.from)], of);
  else
    with_method(method, [&](auto M) { M.template perform<T>(q, task, of); });
  return true;
}

/// Gives the tasks of a plan, in program order, to lanes that run at the same time. `lines` has
///   wait(task, k)   what its lane is given from this task on comes after task k, of another lane
///   give(task, i)   task i; false: no more
///   mark(task, i)   somebody is going to wait for task i, the last that its lane was given
template <class Lines>
void give_in_order(const Plan& plan, const Waits& waits, Lines&& lines) {
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Task& task = plan.tasks[i];
    for (const std::int32_t k : waits.of(i)) lines.wait(task, std::size_t(k));
    if (!lines.give(task, i)) return;
    if (waits.is_awaited(i)) lines.mark(task, i);
  }
}

/// The queue of a lane: that of a higher rank goes first, that of another line is beside it, and some have multiprocessors of their own.
template <class Space>
Queue<Space>& queue_of(Queue<Space>& bulk, Lane lane) {
  Queue<Space>* q = &bulk;
  for (int rank = 0; rank < lane.rank; ++rank) q = &q->ahead();
  for (int rank = 0; rank > lane.rank; --rank) q = &q->behind();
  for (int line = 0; line < lane.line; ++line) q = &q->beside();
  return q->on(lane.multiprocessors);
}

/// The ends of tasks, for which other queues wait: mark(q, i) when task i was given to q last, and wait(q, i), as a phase of its
/// own or as a part of the phase that q is in.
template <class Space>
class TaskEnds;

/// The queues of a device, as the lines of a plan; of several cards, those of one.
template <class T, class Space, class Ends = TaskEnds<Space>>
class QueueLines {
 public:
  QueueLines(Queue<Space>& bulk, const OrderedPlan& ordered, const Workpiece<T, Space>& of, TaskClock<Space>* clock,
             Ends ends, int card = 0)
      : bulk_(bulk),
        chain_(queue_of(bulk, ordered.plan.lanes.chain)),
        method_(ordered.plan.method),
        lanes_(ordered.plan.lanes),
        of_(of),
        gemm_beside_(of.gemm.beside()),
        of_beside_{gemm_beside_, of.A, of.pivots, of.supply, of.buffers, of.pivoting, of.is_speculative, of.cards},
        clock_(clock),
        ends_(std::move(ends)) {
    if (ordered.plan.lanes.single())
      lines_.push_back({ordered.plan.lanes.bulk, &bulk});
    else
      for (const Lane lane : lanes_of(ordered.plan))
        if (lane.card == card) lines_.push_back({lane, &queue_of(bulk, lane)});
    for (const Line& line : lines_)
      if (line.q != &bulk_) line.q->wait(bulk_);
    if (ordered.plan.cards > 1)
      chain_.phase(Phase::panel);  // which may begin with what is a part of another card's phase
  }

  void wait(const Task& task, std::size_t k) { ends_.wait(*of(task).q, k, task.timed); }
  bool give(const Task& task, std::size_t) {
    Line& line = of(task);
    const NamedRange<Space> range(task.type->name);
    const auto& of = lanes_.leaves_room(task.lane) ? of_beside_ : of_;
    const auto performed = [&] { return perform(*line.q, line.has_phase ? *line.q : chain_, method_, task, of); };
    const bool goes_on = clock_ ? clock_->time(*line.q, task, performed) : performed();
    if (!task.is(any_task::stop_if_failed) && !task.is(any_task::arrive)) line.has_phase |= task.timed;
    return goes_on;
  }
  void mark(const Task& task, std::size_t i) { ends_.mark(*of(task).q, i); }

  /// What the bulk is given from now on comes after all tasks.
  void join() {
    for (const Line& line : lines_)
      if (line.q != &bulk_) bulk_.wait(*line.q);
  }

 private:
  struct Line {
    Lane lane;
    Queue<Space>* q;
    bool has_phase = false;
  };
  Line& of(const Task& task) {
    if (lines_.size() == 1) return lines_.front();
    return *std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.lane == task.lane; });
  }

  Queue<Space>&bulk_, &chain_;
  const Method method_;
  const Lanes lanes_;
  const Workpiece<T, Space>& of_;
  const Gemm<T, Space> gemm_beside_;
  const Workpiece<T, Space> of_beside_;  // where it leaves room for others
  TaskClock<Space>* const clock_;        // null: nobody hears
  Ends ends_;
  std::vector<Line> lines_;
};

/// Factors as the plan says, after what `bulk` has been given, and before what it is given next. What is there on exit, the method says.
/// A clock times each task.
template <class T, class Space>
void execute(const OrderedPlan& ordered, Queue<Space>& bulk, const Workpiece<T, Space>& of,
             TaskClock<Space>* clock = nullptr) {
  QueueLines<T, Space> lines(bulk, ordered, of, clock, TaskEnds<Space>(bulk, ordered));
  give_in_order(ordered.plan, ordered.waits, lines);
  lines.join();
}

}  // namespace lasolve
