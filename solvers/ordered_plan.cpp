#include "solvers/ordered_plan.hpp"

#include <list>

#include "core/of_this_thread.hpp"
#include "solvers/cards/lower_cards.hpp"

namespace lasolve {

namespace {

constexpr std::size_t most_kept = 8;

/// All that a plan depends on.
struct Question {
  Method method;
  Schedule schedule;
  Blocking blocking;
  Capabilities can;
  CardList cards;

  bool operator==(const Question&) const = default;
};

struct Kept {
  Question question;
  std::shared_ptr<const OrderedPlan> plan;
};

std::shared_ptr<const OrderedPlan> made(Method method, Schedule schedule, const Blocking& by, const Capabilities& can,
                                        const CardList& cards) {
  Plan plan = lower(plan_of(method, schedule, by), can);
  if (cards.count > 1) {
    const Deal deal(by, cards);
    plan = lower_cards(plan, deal);
    if (reads_few_columns(schedule)) plan = in_memory_of_cards(plan, deal);
  }
  Waits waits = waits_of(plan);
  return std::make_shared<OrderedPlan>(OrderedPlan{std::move(plan), std::move(waits)});
}

}  // namespace

std::shared_ptr<const OrderedPlan> ordered_plan(Method method, Schedule schedule, const Blocking& by,
                                                const Capabilities& can, const CardList& cards) {
  if (by.lanes.single()) return made(method, schedule, by, can, cards);
  auto& kept = of_this_thread<std::list<Kept>>();  // the last that was asked for comes first
  const Question question{method, schedule, by, can, cards};
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.question == question; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    kept.push_front({question, made(method, schedule, by, can, cards)});
    if (kept.size() > most_kept) kept.pop_back();
  }
  return kept.front().plan;
}

}  // namespace lasolve
