// What is written into a report beside times and errors.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "lasolve/lasolve.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// Where a check was asked for, but A was handed over.
inline constexpr const char* not_checked_in_place = "the solution is not checked: A was overwritten with its factors";

/// Why a Cholesky that was not asked for by name was in vain: its outcome.
inline std::string why_no_cholesky(const Outcome& outcome) {
  return "symmetric with a positive diagonal, but " + outcome.message();
}
/// Where LU took its place.
inline std::string lu_was_used(const std::string& why) { return why + ": LU was used instead of Cholesky"; }

/// Says it where the pivots alone let one doubt: the least and the largest magnitude.
template <class T>
void note_pivots(const std::pair<double, double>& pivots, Report& report) {
  if (is_coarser_than<T>(report.precision) && report.refine != Refine::none) return;  // refinement tells more
  const auto [least, most] = pivots;
  if (!(least < double(report.n) * find_solve_precision(report.precision)->unit_roundoff() * most)) return;
  char text[160];
  std::snprintf(
      text, sizeof text,
      "the magnitudes of the pivots are between %.1e and %.1e: the matrix is nearly singular, or badly scaled", least,
      most);
  report.notes.push_back(text);
}

/// Which products went where.
template <class F, class Place>
void tell_products(const Gemm<F, Place>& gemm, Report& report) {
  report.products_of.clear();
  if (!gemm.small()) return;
  report.small_below = gemm.backend().small_below;
  report.products_of = {{gemm.backend().name, gemm.given()}, {gemm.small()->name, gemm.given_to_small()}};
}

}  // namespace lasolve
