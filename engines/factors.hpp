// Factors of A by an engine, in fp64 or fp32, behind what solves in fp64.
#pragma once

#include <functional>
#include <memory>

#include "engines/distributed.hpp"
#include "solvers/recipe.hpp"
#include "solvers/scales.hpp"

namespace lasolve::engines {

class Factors {
 public:
  /// Of 2^e R A C. All ranks call it, and the others.
  Factors(Engine&, const PartOfA& A, const Recipe&, Scales);

  Outcome outcome() const { return outcome_; }
  /// Of the factorization, on the clock of this rank, from where all ranks are ready to where all are done.
  double seconds() const { return seconds_; }
  /// X ← op(A)⁻¹ X.
  void apply(Op op, Distributed<double>& X) const { apply_(op, X); }

 private:
  template <class T>
  void make(Engine&, const PartOfA&, Method, Scales);

  Outcome outcome_;
  double seconds_ = 0;
  std::function<void(Op, Distributed<double>&)> apply_;
};

}  // namespace lasolve::engines
