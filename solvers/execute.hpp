// Runs a plan on a device: the only code that knows of both. Lanes become queues, waits become events, and each task is timed as
// the phase that it says. What a task does is one call or a few of the primitives of the device.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "core/named_range.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/lu.hpp"
#include "solvers/ordered_plan.hpp"
#include "solvers/supply.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// Memory of what the tasks of a lowered plan hand to each other, beside A and the pivots.
template <class T, class Space>
struct Buffers;

/// What a plan is run on.
template <class T, class Space>
struct Workpiece {
  const Gemm<T, Space>& gemm;
  MatrixView<T, Space> A;          // n × n; with a supply, undefined on entry
  Pivots<Space> pivots;            // of Cholesky `zero` alone counts: where the first bad minor is told
  const Supply<T, Space>& supply;  // where the plan is of a matrix that arrives
  Buffers<T, Space>& buffers;
  bool on_trial = false;  // of a Cholesky: see Minors

  MatrixView<T, Space> at(const Block& b) const { return A.block(b.i, b.j, b.m, b.n); }
};

/// Gives q what a task of LU does. Throws std::logic_error where LU has no such task on this device.
template <class T, class Space>
void perform_lu(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& of) {
  const auto C = of.at(task.C);
  const auto p = of.pivots.block(task.interchanges.i, task.interchanges.m);
  switch (task.kind) {
    case TaskKind::panel:  // P [A11; A21] = [L11; L21] U11
      return panel_lu(q, of.gemm, C, p);
    case TaskKind::interchange:  // [A12; A22] ← P [A12; A22]
      return interchange_rows(q, C, p, task.interchanges.of);
    case TaskKind::solve:  // U12 = inv(L11) A12
      return trsm_left(q, of.gemm, lower_unit(of.at(task.L)), C);
    case TaskKind::update:  // A22 ← A22 − L21 U12
      return of.gemm(q, T(-1), of.at(task.L), of.at(task.U), T(1), C);
    default:
      return perform_lowered(q, task, of);
  }
}

/// Gives q what a task of Cholesky does. Throws std::logic_error where Cholesky has no such task.
template <class T, class Space>
void perform_cholesky(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& of) {
  const auto C = of.at(task.C), L = of.at(task.L);
  switch (task.kind) {
    case TaskKind::panel:  // [A11; A21] = [L11; L21] L11ᵀ
      return cholesky_recursive(q, of.gemm, C, Minors<Space>{of.pivots.zero, task.C.j, of.on_trial});
    case TaskKind::solve:  // L21 = A21 inv(L11)ᵀ
      return trsm_right(q, of.gemm, lower(L).transposed(), C);
    case TaskKind::update:  // [A22; A32] ← [A22; A32] − [L21; L31] L21ᵀ
      return update_block_column(q, of.gemm, L, C);
    case TaskKind::update_lower:  // A22 ← A22 − L21 L21ᵀ
      return update_lower(q, of.gemm, L, C);
    case TaskKind::narrow_update:  // [A22; A32] ← [A22; A32] − [L21; L31] L21ᵀ, or of A32 alone
      return narrow_update(q, of.gemm, L, of.at(task.U), C);
    default:
      throw std::logic_error("lasolve: a plan has a task that its method has not");
  }
}

/// Gives a task to q, as a phase of its own or a part of the one that `in_phase` is in. False: the factorization is known to have
/// failed, and the rest may be left out.
template <class T, class Space>
bool perform(Queue<Space>& q, Queue<Space>& in_phase, Method method, const Task& task, const Workpiece<T, Space>& of) {
  if (task.kind == TaskKind::stop_if_failed) return !known_to_have_failed(q, of.pivots.zero);
  if (task.kind == TaskKind::arrive) {
    of.supply(q, task.C.j, of.at(task.C));
    return true;
  }
  if (task.timed)
    q.phase(task.phase, task.flops);
  else if (task.flops > 0)
    in_phase.add_flops(task.flops);
  method == Method::lu ? perform_lu(q, task, of) : perform_cholesky(q, task, of);
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

/// The queue of a lane: that of a higher rank goes first, and that of another line is beside it.
template <class Space>
Queue<Space>& queue_of(Queue<Space>& bulk, Lane lane) {
  Queue<Space>* q = &bulk;
  for (int rank = 0; rank < lane.rank; ++rank) q = &q->ahead();
  for (int rank = 0; rank > lane.rank; --rank) q = &q->behind();
  for (int line = 0; line < lane.line; ++line) q = &q->beside();
  return *q;
}

/// The ends of tasks, for which other queues wait: mark(q, i) when task i was given to q last, and wait(q, i), as a phase of its
/// own or as a part of the phase that q is in.
template <class Space>
class TaskEnds;

/// The queues of a device, as the lines of a plan.
template <class T, class Space>
class QueueLines {
 public:
  QueueLines(Queue<Space>& bulk, const OrderedPlan& ordered, const Workpiece<T, Space>& of, TaskClock<Space>* clock)
      : bulk_(bulk),
        chain_(queue_of(bulk, ordered.plan.lanes.chain)),
        method_(ordered.plan.method),
        lanes_(ordered.plan.lanes),
        of_(of),
        gemm_beside_(of.gemm.beside()),
        of_beside_{gemm_beside_, of.A, of.pivots, of.supply, of.buffers, of.on_trial},
        clock_(clock),
        ends_(bulk, ordered) {
    if (ordered.plan.lanes.single())
      lines_.push_back({ordered.plan.lanes.bulk, &bulk});
    else
      for (const Lane lane : lanes_of(ordered.plan)) lines_.push_back({lane, &queue_of(bulk, lane)});
    for (const Line& line : lines_)
      if (line.q != &bulk_) line.q->wait(bulk_);
  }

  void wait(const Task& task, std::size_t k) { ends_.wait(*of(task).q, k, task.timed); }
  bool give(const Task& task, std::size_t) {
    Line& line = of(task);
    const NamedRange<Space> range(name_of(task.kind));
    const auto& of = lanes_.leaves_room(task.lane) ? of_beside_ : of_;
    const auto performed = [&] { return perform(*line.q, line.has_phase ? *line.q : chain_, method_, task, of); };
    const bool goes_on = clock_ ? clock_->time(*line.q, task, performed) : performed();
    if (task.kind != TaskKind::stop_if_failed && task.kind != TaskKind::arrive) line.has_phase |= task.timed;
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
  TaskEnds<Space> ends_;
  std::vector<Line> lines_;
};

/// Factors as the plan says, after what `bulk` has been given, and before what it is given next. On exit of LU, A holds U and,
/// below the diagonal, L with its unit diagonal left out; a zero pivot is recorded and the elimination goes on, as in LAPACK's
/// getrf. On exit of Cholesky it holds L on and below the diagonal; what is above is not meaningful. A clock times each task.
template <class T, class Space>
void execute(const OrderedPlan& ordered, Queue<Space>& bulk, const Workpiece<T, Space>& of,
             TaskClock<Space>* clock = nullptr) {
  QueueLines<T, Space> lines(bulk, ordered, of, clock);
  give_in_order(ordered.plan, ordered.waits, lines);
  lines.join();
}

}  // namespace lasolve
