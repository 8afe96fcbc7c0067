// lasolve plan: a schedule as a table, as JSON and as a picture.
#pragma once

#include <string>

#include "solvers/plan.hpp"
#include "solvers/recipe.hpp"

namespace lasolve::cli {

/// A plan, and what is told of it.
struct DrawnPlan {
  Plan plan;
  Waits waits;
  Schedule schedule;
  Widths widths;
  std::string card;  // that it is lowered for; empty: none
  Recipes recipes;   // of the system, which no leaf holds; the plan is that of the first
  SolveRecipe solve;
};

/// argv[0] is the word plan. The exit code.
int plan_command(int argc, const char* const* argv);

}  // namespace lasolve::cli
