// Who wants to know when the tasks of a plan ran, and how far a call is.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "solvers/plan.hpp"
#include "solvers/recipe.hpp"

namespace lasolve {

struct TaskWatcher {
  /// Of each task that this thread has had done, in the order in which they ended. Times are seconds of the steady clock.
  std::function<void(const Task&, double begin_seconds, double end_seconds)> on_task;
  /// A factorization begins: what is heard from now on is of it.
  std::function<void()> on_begin = [] {};
};

/// What a call is at when its factors are there.
enum class Step { condition, solve, refine, check };

/// Hears, on the calling thread, of a step and of its share that is done. How far the factorization is, Options::progress hears.
/// Right-hand sides are then taken in parts.
using StepWatcher = std::function<void(Step, double share)>;

/// What was decided of a call: the recipes of A; that whose factors are there, with what was found to be needed besides; and how
/// right-hand sides were solved for.
struct Resolved {
  Recipes recipes = {};
  std::optional<Recipe> taken = {};
  std::optional<SolveRecipe> solve = {};
};
/// Where that is written to.
struct RecipeWatcher {
  Resolved& decided;
};

/// While this lives, on the thread that made it, its watcher hears.
template <class Watcher>
class Watch {
 public:
  explicit Watch(Watcher watcher) : watcher_(std::move(watcher)), before_(std::exchange(current, &watcher_)) {}
  ~Watch() { current = before_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Who hears on this thread; null: nobody does, and nothing is timed.
  static const Watcher* now() { return current; }

 private:
  static inline thread_local constinit const Watcher* current = nullptr;

  const Watcher watcher_;
  const Watcher* const before_;
};
using TaskWatch = Watch<TaskWatcher>;
using StepWatch = Watch<StepWatcher>;
using RecipeWatch = Watch<RecipeWatcher>;

inline const TaskWatcher* task_watcher() { return TaskWatch::now(); }

void tell_recipe_watcher(const Recipes& all, const Recipe& taken);
inline void tell_recipe(const Recipes& all, const Recipe& taken) {
  if (RecipeWatch::now()) tell_recipe_watcher(all, taken);
}
inline void tell_recipe(const SolveRecipe& solve) {
  if (const RecipeWatcher* const watcher = RecipeWatch::now()) watcher->decided.solve = solve;
}

/// Tells of a step; empty where nobody hears on this thread.
std::function<void(double share)> progress_of(Step step);

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Times the tasks of one factorization on a device, for a watcher:
///   TaskClock(q, watcher)   the factorization is to begin on q, which is finished
///   time(q, task, give)     what give() returns, which gives the task to q
///   tell()                  the factorization has been waited for: what was not told yet is told
template <class Space>
class TaskClock;

/// A task that was given to the host is done, and told at once.
template <>
class TaskClock<Cpu> {
 public:
  TaskClock(Queue<Cpu>&, const TaskWatcher& watcher) : watcher_(watcher) { watcher_.on_begin(); }

  template <class Give>
  bool time(Queue<Cpu>&, const Task& task, Give give) {
    const double begin = steady_seconds();
    const bool goes_on = give();
    watcher_.on_task(task, begin, steady_seconds());
    return goes_on;
  }
  void tell() {}

 private:
  const TaskWatcher& watcher_;
};

/// Tells who hears on this thread of a factorization that was done at once, as the tasks of a plan of one panel.
void tell_at_once(Method, Schedule, std::int64_t n, double begin_seconds, double end_seconds);

}  // namespace lasolve
