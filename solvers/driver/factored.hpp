// Factors of a matrix of T, with what is to be said of them.
#pragma once

#include <memory>

#include "solvers/driver/facts.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// Factors, how they were made and what came out. Replaced as a whole.
template <class T, class Space>
struct Factored {
  Recipe recipe;
  Facts facts;
  std::unique_ptr<Factors<T, Space>> factors = {};
};

}  // namespace lasolve
