#include "bench/verify.hpp"

#include "core/current_device.hpp"

namespace lasolve::bench {

namespace {

/// f(queue, host's queue, record) on the device of a choice.
template <class F>
void on_device(const Task& task, F f) {
  Queue<Cpu> host(task.threads);
  if (task.choice.backend.index() == 0) return f(host, host, *std::get<const GemmBackend<Cpu>*>(task.choice.backend));
  Queue<Cuda> q(task.choice.cuda_device);
  const CurrentDevice current(q);
  f(q, host, *std::get<const GemmBackend<Cuda>*>(task.choice.backend));
}

template <class Space>
Verdict verdict_on(Queue<Space>& q, Queue<Cpu>& host, const GemmBackend<Space>& backend, Precision precision,
                   const std::vector<Product>& timed, const BeforeCall& before, const AfterCall& after) {
  Verdict verdict;
  for_precision(precision, [&](auto P) {
    const auto& kernel = backend.template in<P>();
    verdict = conformance<P, Space>(q, host, kernel, timed, before, after);
    if (verdict.fault || !kernel.beside) return;
    const Verdict beside = conformance<P, Space>(q, host, backend.template in<P>(Use::beside), timed, before, after);
    if (beside.fault) verdict = beside;
    if (beside.grade.worst > verdict.grade.worst) verdict.grade = beside.grade;
  });
  return verdict;
}

}  // namespace

std::vector<Verdict> verify_here(const Task& task, const BeforeCall& before, const AfterCall& after,
                                 const OnVerdict& on_verdict) {
  std::vector<Verdict> verdicts;
  on_device(task, [&](auto& q, auto& host, const auto& backend) {
    for (const Precision p : task.precisions) {
      verdicts.push_back(verdict_on(q, host, backend, p, task.timed, before, after));
      if (on_verdict && !on_verdict(verdicts.back())) return;
    }
  });
  return verdicts;
}

}  // namespace lasolve::bench
