// lasolve plan: a schedule as a table, as JSON and as a picture.
#pragma once

#include <string>
#include <vector>

#include "solvers/plan.hpp"
#include "solvers/recipe.hpp"

namespace lasolve::cli {

/// A plan, and what is printed of it.
struct DrawnPlan {
  Plan plan;
  Waits waits;
  Schedule schedule;
  Widths widths;
  std::string card;  // that it is lowered for; empty: none
  Recipes recipes;   // of the system, which no leaf of a card holds; the plan is that of the first
  SolveRecipe solve;
};

/// Sizes, lanes, counts and flops, in a few lines.
/// "chain", "one" where there is no other, and "1: chain" of card 1 of several.
std::string lane_name(const Plan&, Lane);

std::string summary_of(const DrawnPlan&);
/// A line for each task.
std::string table_of(const DrawnPlan&);
std::string as_json(const DrawnPlan&);

/// When a task begins and ends, where each lane is as fast as if it were alone: a task begins when the one before it in its lane
/// and all that it waits for have ended. The unit is the time of one operation in a panel. Updates take a sixteenth of that an
/// operation, triangular solves a sixth; an element that is interchanged or arrives takes four units. Cards are as quick as their shares.
struct Span {
  double begin, end;
};
std::vector<Span> modelled_times(const Plan&, const Waits&, const CardList&);

/// SVG, readable on light and dark ground.
std::string as_svg(const DrawnPlan&);

/// argv[0] is the word plan. The exit code.
int plan_command(int argc, const char* const* argv);

}  // namespace lasolve::cli
