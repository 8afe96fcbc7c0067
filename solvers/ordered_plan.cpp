#include "solvers/ordered_plan.hpp"

#include <list>
#include <optional>

#include "core/of_this_thread.hpp"

namespace lasolve {

namespace {

constexpr std::size_t most_kept = 8;

/// All that a plan depends on.
struct Question {
  Method method;
  Schedule schedule;
  Walk walk;  // without its tuning
  std::optional<Tuning> tuning;
  Capabilities can;

  bool operator==(const Question&) const = default;
};

struct Kept {
  Question question;
  std::shared_ptr<const OrderedPlan> plan;
};

std::shared_ptr<const OrderedPlan> made(Method method, Schedule schedule, const Walk& walk, const Capabilities& can) {
  Plan plan = lower(plan_of(method, schedule, walk), can);
  Waits waits = waits_of(plan);
  return std::make_shared<OrderedPlan>(OrderedPlan{std::move(plan), std::move(waits)});
}

}  // namespace

std::shared_ptr<const OrderedPlan> ordered_plan(Method method, Schedule schedule, const Walk& walk,
                                                const Capabilities& can) {
  if (walk.lanes.single()) return made(method, schedule, walk, can);
  auto& kept = of_this_thread<std::list<Kept>>();  // the last that was asked for comes first
  Question question{method, schedule, walk, {}, can};
  question.walk.tuning = nullptr;
  if (walk.tuning) question.tuning = *walk.tuning;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.question == question; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    kept.push_front({question, made(method, schedule, walk, can)});
    if (kept.size() > most_kept) kept.pop_back();
  }
  return kept.front().plan;
}

}  // namespace lasolve
