// How the phases of a queue become the times of a factorization or a solve.
#include "solvers/driver/times.hpp"

#include <gtest/gtest.h>

namespace lasolve::test {
namespace {

PhaseTimes some_times() {
  PhaseTimes times;
  times.seconds_of(Phase::to_device) = 0.5;
  times.seconds_of(Phase::panel) = 1;
  times.seconds_of(Phase::check) = 2;
  return times;
}

TEST(Times, add_up_without_the_check) {
  Times times;
  times.total_seconds = 10;
  times.add(some_times());
  EXPECT_DOUBLE_EQ(times.total_seconds, 11.5);
  EXPECT_DOUBLE_EQ(times.phases.seconds_of(Phase::check), 2);
  EXPECT_DOUBLE_EQ(times.phases.seconds_of(Phase::other), 0);
}

TEST(Times, count_as_other_where_no_phase_ran) {
  Times times;
  times.add(some_times(), 4);
  EXPECT_DOUBLE_EQ(times.total_seconds, 4);
  EXPECT_DOUBLE_EQ(times.phases.seconds_of(Phase::other), 2.5);
}

TEST(Times, are_the_wall_time_where_phases_overlap) {
  Times times;
  times.add(some_times(), 1.25);
  EXPECT_DOUBLE_EQ(times.total_seconds, 1.25);
  EXPECT_DOUBLE_EQ(times.phases.seconds_of(Phase::other), 0);
}

}  // namespace
}  // namespace lasolve::test
