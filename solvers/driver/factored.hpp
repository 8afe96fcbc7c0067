// Factors of a matrix of T, in the precision that they were asked for in.
#pragma once

#include <memory>
#include <variant>

#include "solvers/driver/facts.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// Factors, how they were made and what came out. Replaced as a whole.
template <class T, class Space>
struct Factored {
  template <class F>
  using In = std::unique_ptr<Factors<F, Space>>;

  Recipe recipe;
  Facts facts;
  /// In each of the types that they can be stored in: none is finer than A.
  std::conditional_t<std::is_same_v<T, double>, std::variant<In<double>, In<float>>, std::variant<In<T>>> factors = {};

  void release() { factors = {}; }
  /// f(the factors, the products of `backend` that they are computed with).
  template <class F>
  auto with(const GemmBackend<Space>& backend, F f) {
    return std::visit([&]<class S>(In<S>& in) { return f(*in, Gemm<S, Space>(backend, recipe.precision.products)); },
                      factors);
  }
};

}  // namespace lasolve
