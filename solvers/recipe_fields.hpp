// What a recipe has, field by field: one table for its line of text, for JSON and for the documentation.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "solvers/recipe.hpp"

namespace lasolve {

/// What a field holds; monostate: there is none, or it says nothing of its own.
using RecipeValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Of a Recipe, or of a SolveRecipe.
template <class R>
struct RecipeField {
  const char* name;
  const char* meaning;
  RecipeValue (*of)(const R&);
  const char* said;  ///< how text tells its value, or that it is so; empty: it does not
};

std::span<const RecipeField<Recipe>> recipe_fields();
std::span<const RecipeField<SolveRecipe>> solve_recipe_fields();

/// One line: "lu, right-looking, by plan, panels of 256, fp64, checked".
std::string text_of(const Recipe&);
std::string text_of(const SolveRecipe&);

/// Which recipe comes before one of them, and why that did not serve.
struct Before {
  int number;
  const char* reason;
};
std::vector<Before> those_before(const Recipes&, const Recipe&);

}  // namespace lasolve
