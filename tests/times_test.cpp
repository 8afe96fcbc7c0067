// How the phases of a queue become the times of a report.
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
  Report report;
  report.total_seconds = 10;
  add_times(some_times(), report);
  EXPECT_DOUBLE_EQ(report.total_seconds, 11.5);
  EXPECT_DOUBLE_EQ(report.phases.seconds_of(Phase::check), 2);
  EXPECT_DOUBLE_EQ(report.phases.seconds_of(Phase::other), 0);
}

TEST(Times, count_as_other_where_no_phase_ran) {
  Report report;
  add_times(some_times(), report, 4);
  EXPECT_DOUBLE_EQ(report.total_seconds, 4);
  EXPECT_DOUBLE_EQ(report.phases.seconds_of(Phase::other), 2.5);
}

TEST(Times, are_the_wall_time_where_phases_overlap) {
  Report report;
  add_times(some_times(), report, 1.25);
  EXPECT_DOUBLE_EQ(report.total_seconds, 1.25);
  EXPECT_DOUBLE_EQ(report.phases.seconds_of(Phase::other), 0);
}

}  // namespace
}  // namespace lasolve::test
