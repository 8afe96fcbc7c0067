// Measured rows, made up.
#pragma once

#include "compare/record.hpp"

namespace lasolve::compare {

/// A row whose GEMM takes `gemm` of `total` seconds, in ten runs that differ by 1 %.
inline Row row(const std::string& name, std::int64_t n, double total, double gemm) {
  Row r;
  r.key = {name, "fp64", "cpu", n};
  for (int i = 0; i < 10; ++i)
    r.seconds.push_back(total * (1 + 0.001 * i)), r.factor_seconds.push_back(0.9 * total),
        r.gemm_seconds_of_runs.push_back(gemm);
  r.total_seconds = total;
  r.phases.seconds_of(Phase::gemm) = gemm;
  r.phases.seconds_of(Phase::panel) = total - gemm;
  r.phases.flops[std::size_t(Phase::gemm)] = gemm > 0 ? 1e9 : 0;
  r.factorization = "lu", r.schedule = "right-looking", r.block_size = 64, r.recipe = "lu, by plan";
  r.backward_error = 1e-16, r.hpl_residual = 0.01;
  if (gemm > 0)
    r.tasks = {{"panel", "A[0:64, 0:64]", Phase::panel, 0, 0.25, 1e6},
               {"update", "A[64:256, 64:256]", Phase::gemm, 0.25, 0.5 * gemm, 6e8, 192, 192, 64},
               {"update", "A[128:256, 128:256]", Phase::gemm, 0.75, 0.5 * gemm, 4e8, 128, 128, 64}};
  return r;
}

inline Comparison comparison() {
  Comparison all;
  all.setting.matrix = "uniform", all.setting.threads = 2, all.setting.seed = 7;
  all.sizes = {{100, "uniform:n=100", "00ff"}, {1000, "uniform:n=1000", "ff00"}};
  all.rows = {row("slow", 100, 1, 0.2), row("fast", 100, 0.995, 0.19), row("slow", 1000, 4, 3),
              row("fast", 1000, 2, 1.2)};
  return all;
}

/// Two backends, each by two schedules, and a baseline solver.
inline Comparison by_recipes() {
  Comparison all = comparison();
  all.sizes.pop_back(), all.rows.clear();
  for (const char* const schedule : {"right-looking", "crout"})
    for (const char* const backend : {"slow", "fast"}) {
      all.rows.push_back(row(backend, 100, 1, 0.2));
      all.rows.back().key.options = {{"factorization", "lu"}, {"schedule", schedule}};
    }
  all.rows.push_back(row("eigen (solver)", 100, 1, 0));
  all.rows.back().is_baseline_solver = true, all.rows.back().key.options = {{"factorization", "lu"}};
  return all;
}

}  // namespace lasolve::compare
