#include "compare/verdict.hpp"

#include <string_view>

#include "bench/visits.hpp"

namespace lasolve::compare {

namespace {

std::vector<double> independent(const Row& row) {
  if (row.visits.size() < bench::least_for_a_verdict) return row.seconds;
  return bench::medians_of_visits(row.seconds, row.visits);
}

}  // namespace

bench::Change verdict(const Row& before, const Size& then, const Row& after, const Size& now) {
  bench::ChangeTest test;
  if (after.key.device == "cpu") test.machine = bench::machine_between(then.yardstick, now.yardstick);
  return bench::change_between(independent(before), independent(after), test);
}

}  // namespace lasolve::compare
