// What the module with Eigen's solvers gives.
#pragma once

#include <memory>
#include <tuple>

#include "baseline_solvers/solver.hpp"

namespace lasolve::baseline_solvers {

struct EigenModule {
  template <class T>
  using Make = std::unique_ptr<Solver<T, Cpu>> (*)(std::int64_t n, Method, int threads);

  bool has_openmp;  ///< otherwise one thread does all
  std::tuple<Make<double>, Make<float>> make;
};

}  // namespace lasolve::baseline_solvers

/// The one name that the module has for others.
extern "C" const lasolve::baseline_solvers::EigenModule* lasolve_baseline_eigen();
