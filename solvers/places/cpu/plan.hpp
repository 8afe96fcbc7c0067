// Plans on the CPU: what was given to a queue of the host is done, so there is one lane, and nothing to wait for.
#pragma once

#include "solvers/execute.hpp"

namespace lasolve {

inline Lanes lanes_at(const Queue<Cpu>&) { return Lanes::one(); }

template <class T>
Capabilities capabilities_of(const Queue<Cpu>&, std::int64_t) {
  return {};
}

template <class T>
void perform_lowered(Queue<Cpu>&, const Task&, const Workpiece<T, Cpu>&) {
  throw std::logic_error("lasolve: a plan was lowered for another place than this");
}

template <>
class TaskEnds<Cpu> {
 public:
  TaskEnds(Queue<Cpu>&, const OrderedPlan&) {}
  void mark(Queue<Cpu>&, std::size_t) {}
  void wait(Queue<Cpu>&, std::size_t, bool) {}
};

}  // namespace lasolve
