// Small systems on CUDA: what Solver does where nothing is out of the ordinary, with one kernel and one wait for the factors, and the
// same for each solve.
#pragma once

#include "core/transfer.hpp"
#include "solvers/devices/cuda/small/shape.hpp"
#include "solvers/driver/facts.hpp"

namespace lasolve {

/// The factors of an n × n matrix, and a copy of it. Where factor() or solve() is false, it is for Solver to do, or to say what is
/// wrong.
template <class T>
class SmallSystemOnCuda {
 public:
  /// Whether one block holds it.
  static bool fits(const Queue<Cuda>& q, std::int64_t n, const Options& options);

  /// As many right-hand sides as it solves for: each has a block, and two rounds of these are faster than a solve with all of them.
  static std::int64_t most_right_hand_sides(const Queue<Cuda>& q);

  explicit SmallSystemOnCuda(std::int64_t n);

  /// Waits for what the queue was given. `by`: which of the recipes has served.
  bool factor(Queue<Cuda>& q, MatrixView<const T, Cuda> A, const Recipes& recipes, Uplo triangle, Recipe& by,
              Facts& facts);

  /// As Solver::solve. X may be B, which is then kept in `kept`.
  bool solve(Queue<Cuda>& q, MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op, bool check,
             Matrix<T, Cuda>& kept, SolveFacts& facts);

  /// All of the matrix, also where one triangle was given.
  MatrixView<const T, Cuda> A() const { return {factors_.A, factors_.n, factors_.n, factors_.n}; }

 private:
  Matrix<T, Cuda> memory_;
  SmallFactors<T> factors_;
  SmallAttempt* attempt_;
};

}  // namespace lasolve
