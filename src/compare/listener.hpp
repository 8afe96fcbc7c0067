// When the tasks of a factorization ran.
#pragma once

#include <string>
#include <vector>

#include "compare/row.hpp"
#include "solvers/watch.hpp"

namespace lasolve::compare {

/// Listens to the tasks of the factorization that this thread makes, if it runs a plan. A second factorization, as after fp32 ones
/// that did not do, begins anew.
class Listener {
 public:
  Listener() { heard_.reserve(usual); }
  /// In the order in which they ended.
  std::vector<TaskTime> take();

 private:
  static constexpr std::size_t usual = 512;

  /// While the clock of a solve runs, no more is done than that numbers are written down.
  struct Heard {
    const TaskType* type;
    Lane lane;
    Phase phase;
    Block C;
    std::int64_t k;
    double begin, end, flops;
  };
  void hear(const Task&, double begin, double end);

  std::vector<Heard> heard_;
  const TaskWatch watch_{{.on_task = [this](const Task& task, double begin, double end) { hear(task, begin, end); },
                          .on_begin = [this] { heard_.clear(); }}};
};

}  // namespace lasolve::compare
