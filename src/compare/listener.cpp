#include "compare/listener.hpp"

#include <fmt/format.h>

namespace lasolve::compare {

namespace {

std::string text_of(const Block& b) {
  return b.of == Resource::matrix ? fmt::format("A[{}:{}, {}:{}]", b.i, b.i + b.m, b.j, b.j + b.n) : "";
}

}  // namespace

void Listener::hear(const Task& task, double begin, double end) {
  if (task.C.empty()) return;
  if (task.kind == TaskKind::panel && task.C.j == 0) heard_.clear();
  heard_.push_back({task.kind, task.phase, task.C, task.L.n, begin, end, task.flops});
}

std::vector<TaskTime> Listener::take() {
  std::vector<TaskTime> tasks;
  for (const Heard& h : heard_) {
    TaskTime t{name_of(h.kind), text_of(h.C), h.phase, h.begin - heard_[0].begin, h.end - h.begin, h.flops};
    if (h.phase == Phase::gemm) t.m = h.C.m, t.n = h.C.n, t.k = h.k;
    tasks.push_back(std::move(t));
  }
  heard_.clear();
  return tasks;
}

}  // namespace lasolve::compare
