// Factors of a matrix of T, in the precision that they were asked for in.
#pragma once

#include <memory>
#include <variant>

#include "solvers/factors.hpp"

namespace lasolve {

/// The precision of factors by its name, or that of A. Throws std::invalid_argument where solvers do not have it, or factors
/// would be finer than A.
SolvePrecision solve_precision(Precision name, Precision of_A);

/// Writes into a report in what a system with a matrix of T is solved.
template <class T>
void note_precision(Report& report, const SolvePrecision& precision) {
  report.precision = precision.name;
  report.storage = precision.storage;
  report.products = precision.products;
  report.residual = precision.residual == Precision::automatic ? precision_of<T> : precision.residual;
}

/// Factors, and what is reported of them, their precision as well. Replaced as a whole.
template <class T, class Place>
struct Factored {
  template <class F>
  using In = std::unique_ptr<Factors<F, Place>>;

  Report report;
  /// In each of the types that they can be stored in: none is finer than A.
  std::conditional_t<std::is_same_v<T, double>, std::variant<In<double>, In<float>>, std::variant<In<T>>> factors = {};

  void release() { factors = {}; }
  /// Whether solutions are coarser than A before they are refined.
  bool is_coarse() const { return is_coarser_than<T>(report.precision); }
  /// f(the factors, the products of `backend` that they are computed with).
  template <class F>
  auto with(const GemmBackend<Place>& backend, F f) {
    return std::visit([&]<class S>(In<S>& in) { return f(*in, Gemm<S, Place>(backend, report.products)); }, factors);
  }
};

/// That of A, or of coarser factors whose solutions are not refined.
template <class T>
double roundoff_of_solutions(const Report& report) {
  return report.refine != Refine::none ? unit_roundoff_of(precision_of<T>)
                                       : find_solve_precision(report.precision)->unit_roundoff();
}

}  // namespace lasolve
