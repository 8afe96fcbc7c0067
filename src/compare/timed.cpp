#include "compare/timed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lasolve::compare {

namespace {

std::string text_of(const Block& b) {
  return b.of == Resource::matrix ? fmt::format("A[{}:{}, {}:{}]", b.i, b.i + b.m, b.j, b.j + b.n) : "";
}

}  // namespace

void TaskRecorder::record(const Task& task, double begin, double end) {
  if (task.C.empty()) return;
  recorded_.push_back({task.type, task.lane, task.phase(), task.C, task.L.n, begin, end, task.flops()});
}

std::vector<TaskTime> TaskRecorder::take() {
  std::vector<TaskTime> tasks;
  double first = recorded_.empty() ? 0 : recorded_[0].begin;
  for (const Recorded& h : recorded_) first = std::min(first, h.begin);
  for (const Recorded& h : recorded_) {
    TaskTime t{h.type->name, text_of(h.C), h.phase, h.begin - first, h.end - h.begin, h.flops};
    t.lane = four_lanes.name_of(h.lane);
    if (h.type->is_product) t.m = h.C.m, t.n = h.C.n, t.k = h.k;
    tasks.push_back(std::move(t));
  }
  recorded_.clear();
  return tasks;
}

}  // namespace lasolve::compare
