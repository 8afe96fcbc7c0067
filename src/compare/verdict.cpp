#include "compare/verdict.hpp"

#include <algorithm>

#include "bench/visits.hpp"

namespace lasolve::compare {

namespace {

std::vector<double> independent(const Row& row) {
  if (row.visits.size() < bench::least_for_a_verdict) return row.seconds;
  return bench::medians_of_visits(row.seconds, row.visits);
}

/// Other programs that kept so much of the processors busy that medians of visits are of times with them.
bench::MachineChange loaded(bench::MachineChange machine, const Size& then, const Size& now) {
  if (then.is_loaded()) machine.faster = std::min(machine.faster, 1 / (1 + then.other_processors) - 1);
  if (now.is_loaded()) machine.slower = std::max(machine.slower, now.other_processors);
  return machine;
}

}  // namespace

bench::Change verdict(const Row& before, const Size& then, const Row& after, const Size& now) {
  bench::ChangeTest test;
  if (after.key.device == "cpu")
    test.machine = loaded(bench::machine_between(then.yardstick, now.yardstick), then, now);
  return bench::change_between(independent(before), independent(after), test);
}

}  // namespace lasolve::compare
