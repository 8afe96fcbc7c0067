// A plan as a picture: the columns of the matrix over time.
#pragma once

#include <string>
#include <vector>

#include "cli/plan/plan.hpp"

namespace lasolve::cli {

/// When a task begins and ends, where each lane is as fast as if it were alone: a task begins when the one before it in its lane
/// and all that it waits for have ended. The unit is the time of one operation in a panel. Updates take a sixteenth of that an
/// operation, triangular solves a sixth; an element that is interchanged or arrives takes four units.
struct Span {
  double begin, end;
};
std::vector<Span> modelled_times(const Plan&, const Waits&);

/// SVG, readable on light and dark ground.
std::string as_svg(const DrawnPlan&);

}  // namespace lasolve::cli
