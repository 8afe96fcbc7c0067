// What a report says beside numbers.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "lasolve/names.hpp"
#include "solvers/driver/facts.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// Where a check was asked for, but A was handed over.
inline constexpr const char* not_checked_in_place = "the solution is not checked: A was overwritten with its factors";
/// Where coarse factors do not show the condition, and neither do solves that GMRES corrects.
inline constexpr const char* condition_is_not_sure =
    "A may be more ill-conditioned than rcond says: GMRES could not solve what its estimate takes";

/// Why a Cholesky that was not asked for by name was in vain: its outcome.
inline std::string why_no_cholesky(const Outcome& outcome) {
  return "symmetric with a positive diagonal, but " + outcome.message();
}
/// Where LU took its place.
inline std::string lu_was_used(const std::string& why) { return why + ": LU was used instead of Cholesky"; }

/// Says it where the pivots alone let one doubt. norm_of_A(): ‖A‖, where that is known.
template <class Norm>
void note_pivots(const Ending& ending, Norm norm_of_A, const Recipe& recipe, Facts& facts) {
  if (recipe.is_coarse() && recipe.refines()) return;  // refinement tells more
  const int power = record_of(recipe.method).power_of_pivots;
  const double least = std::pow(ending.least, power), most = std::pow(ending.most, power);
  const double small = double(facts.n) * recipe.precision.unit_roundoff();
  if (!(least < small * most)) return;
  const std::optional<double> norm = norm_of_A();
  const bool grew = norm && !(least < small * *norm);
  char text[160];
  std::snprintf(text, sizeof text, "the magnitudes of the pivots are between %.1e and %.1e: %s", least, most,
                grew ? "elements grew in the factorization"
                : norm && std::isfinite(*norm)
                    ? "the matrix is nearly singular, or badly scaled"
                    : "the matrix is nearly singular, or badly scaled, or elements grew in the factorization");
  facts.notes.push_back(text);
}

/// Where A is too small to compute with.
inline std::string scaled_as_subnormal(int exponent) {
  return "the norm of A is below the least normal number: A and the right-hand sides were scaled by 2^" +
         std::to_string(exponent);
}

/// Where A was factored again after that.
inline std::string rows_and_columns_were_scaled(const Outcome& failed) {
  return (failed.ok() ? "a solution failed" : failed.message()) +
         ": rows and columns, which are of very different size, were scaled by powers of two";
}

/// Where A could not be factored again.
inline constexpr const char* no_memory_to_equilibrate =
    "rows and columns are of very different size, but there was no memory to factor A again with these scaled: "
    "--equilibrate on (Options::equilibrate) factors only that";

/// By the next recipe.
inline std::string used_instead(const Recipe& tried, const Recipe& next) {
  const bool finer = tried.precision.name != next.precision.name;
  return (finer ? std::string(name_of(next.precision.name)) + " factors were" : "partial pivoting was") +
         " used instead";
}

/// Of a tournament for pivots, after which partial pivoting is tried.
inline std::string elements_grew(const Growth& growth) {
  char text[160];
  std::snprintf(
      text, sizeof text,
      "by a tournament for pivots elements of U grew %.1e times as large as those of A, and those of L to %.1e",
      growth.of_elements, growth.largest_multiplier);
  return text;
}

/// Where a solution failed its check because elements grew, and what was done then.
inline std::string elements_grew(double growth, double hpl_residual, bool refined) {
  char text[160];
  std::snprintf(text, sizeof text,
                "elements of U are up to %.1e times as large as those of A, and the HPL check was %.1e", growth,
                hpl_residual);
  return std::string(text) + (refined ? ": the solution was refined" : "");
}

}  // namespace lasolve
