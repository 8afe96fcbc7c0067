// What the JSON of several commands has.
#pragma once

#include <string>

#include "bench/json.hpp"
#include "solvers/recipe.hpp"

namespace lasolve::cli {

/// Each with all of its fields, its number, and after which others it comes.
Json recipes_as_json(const Recipes&);
Json solve_recipe_as_json(const SolveRecipe&);

/// The name of the processor, and NVIDIA's kernel module as it says itself, or nothing.
std::string processor();
std::string driver();
/// The tool and the machine.
Json environment(int threads);
/// The fields of a solve's JSON and their meanings, for a person.
std::string json_fields();
/// Names of files need not be UTF-8, which JSON is: what is not becomes U+FFFD.
std::string text_of(const Json&);

}  // namespace lasolve::cli
