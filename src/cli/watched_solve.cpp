#include "cli/watched_solve.hpp"

#include <algorithm>
#include <array>

#include "solvers/method.hpp"
#include "solvers/watch.hpp"

namespace lasolve::cli {

namespace {

enum Part : std::size_t { making, factoring, estimating, solving, refining, checking, parts };
constexpr std::array<const char*, parts> names_of_parts = {
    "making the matrix", "factoring", "estimating the condition", "solving with the factors", "refining", "checking"};

Part part_of(Step step) {
  switch (step) {
    case Step::condition:
      return estimating;
    case Step::solve:
      return solving;
    case Step::refine:
      return refining;
    case Step::check:
      return checking;
  }
  return checking;
}

/// About what each part costs, as operations at the rate of the factorization. To read a matrix takes as long as so many of them for
/// each element.
std::array<double, parts> costs(const Problem& problem, const Options& o) {
  constexpr double reading = 40, updates = 3, solves_of_condition = 4;
  const double n = double(problem.n()), n2 = n * n, of_sides = 2 * n2 * double(problem.nrhs());
  const bool refines =
      is_asked_for(o.refine) || o.residual == Residual::extra || is_coarser_than<double>(o.precision, o.storage);
  const double solve = std::max(of_sides, reading * n2), residual = std::max(of_sides, reading * n2);
  return {problem.is_made() ? 0 : reading * n2,
          record_of(problem.method_for(o)).flops(n),
          o.condition == Condition::on ? solves_of_condition * reading * n2 : 0,
          solve,
          refines ? updates * (solve + residual) : 0,
          o.check ? residual + reading * n2 : 0};
}

}  // namespace

Report solve_with_progress(Problem& problem, Options options, Matrix<double>& X, const SolveProgress& progress) {
  const auto cost = costs(problem, options);
  double total = 0;
  std::array<double, parts> before{};
  for (std::size_t p = 0; p < parts; ++p) before[p] = total, total += cost[p];
  const auto say = [&](Part part, double share) {
    progress((before[part] + share * cost[part]) / total, names_of_parts[part]);
  };
  const StepWatch watch([&](Step step, double share) { say(part_of(step), share); });
  options.progress = [&](double share) { say(factoring, share); };
  return problem.solve(options, X, false, [&](double share) { say(making, share); });
}

}  // namespace lasolve::cli
