// What lasolve plan prints.
#pragma once

#include <string>

#include "cli/plan/plan.hpp"

namespace lasolve::cli {

/// Sizes, lanes, counts and flops, in a few lines.
/// "chain", "one" where there is no other, and "1: chain" of card 1 of several.
std::string lane_name(const Plan&, Lane);

std::string summary_of(const DrawnPlan&);
/// A line for each task.
std::string table_of(const DrawnPlan&);
std::string as_json(const DrawnPlan&);

}  // namespace lasolve::cli
