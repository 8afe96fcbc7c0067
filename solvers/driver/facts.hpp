// What comes out of a recipe: of both a report is made, at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"
#include "solvers/driver/times.hpp"
#include "solvers/ending.hpp"
#include "solvers/recipe.hpp"
#include "solvers/refine/inverse_norms.hpp"

namespace lasolve {

/// Of factors: members as in Report.
struct Facts {
  Outcome outcome = {};
  std::string device = {}, gemm = {};
  std::int64_t n = 0;
  int threads = 0;
  std::vector<ProductsOf> products_of = {};
  double small_below = 0;
  std::vector<CardReport> cards = {};
  Times times = {};
  double factor_seconds = 0;
  std::optional<Growth> growth = {};
  double range_of_pivots = 1;                        ///< the smallest as a part of the largest
  std::optional<double> rcond = {};                  ///< of A
  InverseNorms inverse = {};                         ///< of A, or of what stands for it, once rcond is known
  std::optional<ConditionEstimate> of_factors = {};  ///< that of what they multiply to
  bool rcond_is_sure = true;
  std::optional<double> excess_of_inverse = {};  ///< over that of coarse factors, where it was estimated
  Equilibration equilibration = Equilibration::none;
  std::vector<std::string> notes = {};
};

/// Of a solve with them.
struct SolveFacts {
  Outcome outcome;
  std::int64_t nrhs;
  Refine refine;
  double roundoff;  ///< of solutions
  Times times = {};
  std::optional<double> backward_error = {}, rcond_of_scaled_rows = {}, rcond_of_scaled_columns = {};
  std::optional<Growth> growth = {};
  std::optional<double> forward_error_bound = {}, componentwise_backward_error = {};
  int refine_iterations = 0, gmres_steps = 0;
  bool extra_residuals = false;
  std::vector<double> refinement_residuals = {};
  std::vector<std::vector<double>> residual_history = {};
  std::vector<std::string> notes = {};

  /// Given that of A.
  double rcond_that_counts(double rcond) const {
    return rcond_of_scaled_rows.value_or(rcond_of_scaled_columns.value_or(rcond));
  }
};

/// Writes that of the factors, or of a solve with factors of which it is there.
void write_report(Report&, const Recipe&, Facts&&);
void write_solve(Report& of_factors, SolveFacts&&);
Report report_of(const Report& of_factors, SolveFacts&&);
/// Adds what else a solve took.
void add_times(Report&, const Times&);

}  // namespace lasolve
