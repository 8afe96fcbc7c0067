// What lasolve plan prints.
#pragma once

#include <string>

#include "cli/plan/plan.hpp"

namespace lasolve::cli {

/// Sizes, lanes, counts and flops, in a few lines.
std::string summary_of(const DrawnPlan&);
/// A line for each task.
std::string table_of(const DrawnPlan&);
std::string as_json(const DrawnPlan&);

}  // namespace lasolve::cli
