#include "solvers/watch.hpp"

#include "solvers/plan.hpp"

namespace lasolve {

void tell_recipe_watcher(const Recipes& all, const Recipe& taken) {
  Resolved& decided = RecipeWatch::now()->decided;
  decided.recipes = all, decided.taken = taken;
}

std::function<void(double)> progress_of(Step step) {
  if (!StepWatch::now()) return {};
  return [step](double share) {
    if (const StepWatcher* const watcher = StepWatch::now()) (*watcher)(step, share);
  };
}

void tell_at_once(Method method, Schedule schedule, std::int64_t n, double begin_seconds, double end_seconds) {
  const TaskWatcher* const watcher = task_watcher();
  if (!watcher) return;
  watcher->on_begin();
  for (const Task& task : plan_of(method, schedule, {.n = n, .widths = {.panel = n}}).tasks)
    watcher->on_task(task, begin_seconds, end_seconds);
}

}  // namespace lasolve
