// The plan of a factorization on a device, and what is made for it before the clock runs.
#pragma once

#include "solvers/execute.hpp"
#include "solvers/recipe.hpp"

namespace lasolve {

/// The plan of a factorization of n × n on a device.
template <class F, class Space>
std::shared_ptr<const OrderedPlan> plan_on(const Queue<Space>& q, const Recipe& by, std::int64_t n) {
  const Blocking blocking{.n = n, .widths = by.widths, .arrives = by.as_it_comes, .lanes = lanes_at(q)};
  return ordered_plan(by.method, by.schedule, blocking, capabilities_of<F>(q, n, by));
}

/// Has the backend make what the products of a plan would make at their first call, on the queues that they will run on: those
/// with the largest operands and the tallest ones of each lane. Triangular solves and panels contain products that are smaller
/// than they are.
template <class F, class Space>
void prepare_products(Queue<Space>& bulk, const Gemm<F, Space>& gemm, const Plan& plan) {
  struct Product {
    std::int64_t m = 0, n = 0, k = 0;
  };
  const Op b = record_of(plan.method).U.op;
  const Gemm<F, Space> beside = gemm.beside();
  const auto gemm_of = [&](Lane lane) { return plan.lanes.leaves_room(lane) ? &beside : &gemm; };
  for (const Lane lane : lanes_of(plan)) {
    Product largest, tallest;
    for (const Task& task : plan.tasks) {
      if (task.lane != lane || task.flops() == 0) continue;
      const Product product{task.C.m, task.C.n, task.type->picture == TaskType::panel ? task.C.n : task.L.n};
      if (product.k == 0) continue;
      if ((product.m + product.n) * product.k > (largest.m + largest.n) * largest.k) largest = product;
      if (product.m > tallest.m) tallest = product;
    }
    for (const auto& [m, n, k] : {largest, tallest})
      if (m > 0) gemm_of(lane)->prepare(queue_of(bulk, lane), Op::none, b, m, n, k);
  }
}

/// Makes before the clock runs what a factorization takes of its queues, and its products.
template <class F, class Space>
void prepare_factorization(Queue<Space>& q, const Gemm<F, Space>& gemm, const Recipe& by, std::int64_t n) {
  if (lanes_at(q).single() && !gemm.prepares()) return;  // a device of one queue has nothing to make
  const auto plan = plan_on<F>(q, by, n);
  prepare<F>(q, plan->plan, by.pivoting);
  if (gemm.prepares()) prepare_products(q, gemm, plan->plan);
}

}  // namespace lasolve
