#include "solvers/plan.hpp"

#include <limits>
#include <utility>

#include "solvers/method.hpp"

namespace lasolve {

bool overlap(const Block& a, const Block& b) {
  return a.of == b.of && a.card == b.card && a.i < b.i + b.m && b.i < a.i + a.m && a.j < b.j + b.n && b.j < a.j + a.n;
}

const char* Lanes::name_of(Lane lane) const {
  lane.card = bulk.card;
  if (lane.multiprocessors != 0) return lane.multiprocessors > 0 ? "panels" : "bulk beside";
  if (lane.rank == bulk.rank) return lane == bulk ? "bulk" : "bulk 2";
  if (lane.rank == chain.rank)
    return lane == chain ? "chain" : lane.line == chain.line + copies_line ? "copies" : "chain 2";
  return lane == far ? "far" : lane == soon ? "soon" : "near";
}

namespace {

bool any_overlap(const BlockList& a, const BlockList& b) {
  return std::any_of(a.begin(), a.end(), [&](const Block& x) {
    return std::any_of(b.begin(), b.end(), [&](const Block& y) { return overlap(x, y); });
  });
}

/// What a task touches.
struct Touched {
  explicit Touched(const Task& task) {
    if (task.type->touches) {
      task.type->touches(task, reads, writes);
    } else {
      for (const Block& b : {task.L, task.U, task.interchanges, task.device}) reads.add(b);
      writes.add(task.C);
    }
    reads.on(task.is(any_task::send) ? task.from : task.lane.card);
    writes.on(task.lane.card);
  }
  BlockList reads, writes;
};

bool conflict(const Touched& before, const Touched& after) {
  return any_overlap(before.writes, after.writes) || any_overlap(before.writes, after.reads) ||
         any_overlap(before.reads, after.writes);
}

}  // namespace

BlockList reads_of(const Task& task) { return Touched(task).reads; }
BlockList writes_of(const Task& task) { return Touched(task).writes; }
bool conflict(const Task& before, const Task& after) { return conflict(Touched(before), Touched(after)); }

Task task_in_columns(const Task& task, Range columns) {
  Task part = task;
  part.C = {task.C.rows(), columns};
  if (!task.U.empty()) part.U = {task.U.rows(), columns};
  return part;
}

double flops_of_product(const Task& task) { return 2 * flops_of_solve(task); }
double flops_of_solve(const Task& task) { return double(task.C.m) * double(task.L.n) * double(task.C.n); }

Range Blocking::panel_at(std::int64_t j) const {
  const std::int64_t left = columns() - j;
  std::int64_t width = widths.panel;
  if (panels_bind(left)) {
    width = std::min(width, j == 0 ? widths.bottleneck.first : widths.bottleneck.panel);
  } else if (widths.least > 0) {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (widths.of_before > 0) most = std::int64_t(widths.of_before * double(j));
    if (widths.part_of_rest > 0) most = std::min(most, left / widths.part_of_rest);
    width = std::clamp(most / widths.unit * widths.unit, std::min(widths.least, width), width);
  }
  return {j, j + std::min(width, left)};
}

Range Blocking::step_at(std::int64_t j, Range panel) const {
  const std::int64_t step = panels_bind(columns() - panel.begin) ? widths.bottleneck.step : widths.step;
  return {j, step > 0 ? std::min(panel.end, j + step) : panel.end};
}

Plan plan_of(Method method, Schedule schedule, const Blocking& by) {
  require(method != Method::automatic && schedule != Schedule::automatic,
          "a plan needs a method and a schedule, not automatic ones");
  require(by.n >= 0 && by.widths.panel > 0 && by.widths.step >= 0 && by.widths.least >= 0,
          "a plan is of n columns, in panels of at least one");
  return {method, by.rows(), by.n, by.lanes, schedule_of(method, schedule)(by)};
}

std::vector<Lane> lanes_of(const Plan& plan) {
  std::vector<Lane> lanes;
  for (const Task& task : plan.tasks)
    if (std::find(lanes.begin(), lanes.end(), task.lane) == lanes.end()) lanes.push_back(task.lane);
  std::sort(lanes.begin(), lanes.end(), [](Lane a, Lane b) {
    return a.rank != b.rank ? a.rank > b.rank : std::pair(a.line, a.card) < std::pair(b.line, b.card);
  });
  return lanes;
}

namespace {

/// The last task of each lane that something comes after; −1: of none.
using Clock = std::vector<std::int32_t>;

/// What is known while the tasks of a plan are gone through: a vector clock for each lane.
class Order {
 public:
  explicit Order(const Plan& plan)
      : tasks_(plan.tasks),
        lanes_(lanes_of(plan)),
        given_(lanes_.size()),
        known_(lanes_.size(), Clock(lanes_.size(), -1)) {
    done_.reserve(tasks_.size());
    touched_.reserve(tasks_.size());
    for (const Task& task : tasks_) touched_.emplace_back(task);
  }

  /// Those that the next task has to wait for. Of each lane, only the last in conflict can be one; and of these, the last of
  /// all is one for certain, because it comes after none of the others that could bring it.
  Clock next() {
    const auto i = std::int32_t(done_.size());
    const std::size_t lane = index_of(tasks_[std::size_t(i)].lane);
    Clock& known = known_[lane];
    Clock waits, candidates;
    for (std::size_t other = 0; other < lanes_.size(); ++other)
      if (const auto k = other == lane ? -1 : last_in_conflict(other, i, known[other]); k >= 0) candidates.push_back(k);
    std::sort(candidates.begin(), candidates.end(), std::greater());
    for (const std::int32_t k : candidates) {
      if (known[index_of(tasks_[std::size_t(k)].lane)] >= k) continue;  // another wait has brought it
      waits.push_back(k);
      for (std::size_t other = 0; other < lanes_.size(); ++other)
        known[other] = std::max(known[other], done_[std::size_t(k)][other]);
    }
    known[lane] = i;
    done_.push_back(known);
    given_[lane].push_back(i);
    return waits;
  }

 private:
  std::size_t index_of(Lane lane) const {
    return std::size_t(std::find(lanes_.begin(), lanes_.end(), lane) - lanes_.begin());
  }
  /// Of a lane, behind task `known`; −1: none.
  std::int32_t last_in_conflict(std::size_t lane, std::int32_t with, std::int32_t known) const {
    for (auto k = given_[lane].rbegin(); k != given_[lane].rend() && *k > known; ++k)
      if (conflict(touched_[std::size_t(*k)], touched_[std::size_t(with)])) return *k;
    return -1;
  }

  const std::vector<Task>& tasks_;
  std::vector<Touched> touched_;
  const std::vector<Lane> lanes_;
  std::vector<Clock> given_;         // the tasks of each lane
  std::vector<Clock> known_, done_;  // what each lane comes after; and what comes after a task does
};

}  // namespace

Waits waits_of(const Plan& plan) {
  Waits waits;
  if (plan.lanes.single() && plan.cards == 1) return waits;
  Order order(plan);
  waits.awaited_.resize(plan.tasks.size());
  waits.begins_.push_back(0);
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    for (const std::int32_t k : order.next()) {
      waits.all_.push_back(k);
      waits.awaited_[std::size_t(k)] = true;
    }
    waits.begins_.push_back(waits.all_.size());
  }
  return waits;
}

}  // namespace lasolve
