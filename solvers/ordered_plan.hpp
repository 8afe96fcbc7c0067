// A plan as a device runs it: lowered, and with the waits of its tasks.
#pragma once

#include <memory>

#include "solvers/cards/card_list.hpp"
#include "solvers/lower.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

struct OrderedPlan {
  Plan plan;
  Waits waits;
};

/// For several cards, in their memory, with the block columns dealt out. Each thread keeps its last few plans of several lanes: at small n it takes longer to order one than to factor the matrix.
std::shared_ptr<const OrderedPlan> ordered_plan(Method, Schedule, const Blocking&, const Capabilities&,
                                                const CardList& = {});

}  // namespace lasolve
