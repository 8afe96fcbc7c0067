// Factors of a matrix of T, in the precision that they were asked for in.
#pragma once

#include <memory>
#include <variant>

#include "solvers/driver/facts.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// The precision of factors by its name, or that of A; residuals are in that of A. Throws std::invalid_argument where solvers do not have it, or factors
/// would be finer than A.
SolvePrecision solve_precision(Precision name, Precision of_A);

/// Whether solutions are refined that have factors in a precision, where that does not follow from a check.
Refine refine_for(const Options&, const SolvePrecision&);

/// Factors, how they were made and what came out. Replaced as a whole.
template <class T, class Place>
struct Factored {
  template <class F>
  using In = std::unique_ptr<Factors<F, Place>>;

  Decided decided;
  Facts facts;
  /// In each of the types that they can be stored in: none is finer than A.
  std::conditional_t<std::is_same_v<T, double>, std::variant<In<double>, In<float>>, std::variant<In<T>>> factors = {};

  void release() { factors = {}; }
  /// f(the factors, the products of `backend` that they are computed with).
  template <class F>
  auto with(const GemmBackend<Place>& backend, F f) {
    return std::visit([&]<class S>(In<S>& in) { return f(*in, Gemm<S, Place>(backend, decided.precision.products)); },
                      factors);
  }
};

}  // namespace lasolve
