// Factors behind one interface: who solves, refines, judges and estimates knows neither the method nor what they are stored in.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/fetched.hpp"
#include "lasolve/lasolve.hpp"
#include "solvers/ending.hpp"
#include "solvers/matrix_facts.hpp"
#include "solvers/method.hpp"
#include "solvers/recipe.hpp"
#include "solvers/scales.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// The powers of two that numbers may have which lose no digits.
struct Exponents {
  int least, most;
};
template <class F>
inline constexpr Exponents exponents_of{
    std::numeric_limits<real_of<F>>::min_exponent + std::numeric_limits<real_of<F>>::digits,
    std::numeric_limits<real_of<F>>::max_exponent};

/// Of a matrix of T, on a device: what there is when it has been factored.
template <class T, class Space>
class Factors {
 public:
  virtual ~Factors() = default;

  virtual std::int64_t order() const = 0;
  /// X ← op(A)⁻¹ B. X may be B. X: n × nrhs. Flops 2 n² nrhs. Numbers go through exponents().
  virtual void apply(Queue<Space>&, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op) = 0;
  /// The same in the arithmetic of T, whatever they are stored in: with less roundoff, in more time, not through the backend.
  virtual void apply_in_T(Queue<Space>&, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op) = 0;
  /// Those that solutions and right-hand sides of apply() may have.
  virtual Exponents exponents() const = 0;
  /// What values() and their diagonal are of: A, scaled. apply() is with A.
  virtual const Scales& scales() const = 0;

  virtual const MethodRecord& method() const = 0;
  /// The triangles as they are stored. Empty where that is not as T, or not in one place.
  virtual MatrixView<const T, Space> values() const = 0;
  /// The diagonal of the triangles, where these are stored as T.
  virtual std::vector<T> diagonal_on_host(Queue<Space>&) = 0;
  /// Row k was exchanged with row [k]. None where the method interchanges no rows.
  virtual std::vector<std::int64_t> pivots_on_host(Queue<Space>&) = 0;
  /// How large they are, until release_workspace() where they are stored narrowly; none where they are not in one place.
  virtual std::optional<SizesOfFactors> sizes(Queue<Space>&) { return {}; }
  /// Where it failed: Outcome::at, or −1. In the memory of the device.
  virtual const std::int64_t* failed_at() const = 0;
  /// Of memory that they keep.
  virtual std::size_t bytes() const = 0;
};

/// A matrix whose columns are still coming: await(q, j) makes a queue wait for the first j of them.
template <class T, class Space>
struct Arriving {
  MatrixView<const T, Space> A;
  std::function<void(Queue<Space>&, std::int64_t columns)> await;
};

template <class Space>
class TaskClock;

/// Factors that are still to be computed.
template <class T, class Space>
class Decomposition : public Factors<T, Space> {
 public:
  /// Makes what factor() will take, before the clock runs.
  virtual void prepare(Queue<Space>&, const Recipe&) = 0;
  /// To be called before factor(), unless A comes later: copies A, whose memory may be that of the factors.
  virtual void take(Queue<Space>&, MatrixView<const T, Space> A) = 0;
  /// The same before a factor() that leaves A as it is where it may not be positive definite.
  virtual Fetched<MatrixFacts> take_speculatively(Queue<Space>&, MatrixView<const T, Space> A) = 0;
  /// The triangle that is not there becomes that which is.
  virtual void mirror_triangle(Queue<Space>&, Uplo there) = 0;
  /// Gives q the factorization, in place. What is still arriving is asked for, a block column after the other; the recipe says so, too.
  /// A clock times the tasks.
  virtual void factor(Queue<Space>&, const Recipe&, const Arriving<T, Space>* = nullptr,
                      TaskClock<Space>* = nullptr) = 0;
  /// How it ended.
  virtual Fetched<Ending> ending(Queue<Space>&) = 0;
  /// To be called when it has ended.
  virtual void release_workspace() = 0;
  /// The name of the one that has its products.
  virtual std::string backend() const = 0;
  /// Of several cards, what each did in factor(); else empty.
  virtual std::vector<CardReport> cards() const { return {}; }
  /// Which products went where; empty: all to one backend.
  virtual std::vector<ProductsOf> products_of() const = 0;

  Outcome outcome_of(const Ending& ending, bool of_rows = false) const {
    if (ending.failed_at < 0) return {Outcome::solved, 0, of_rows};
    return {this->method().failure, ending.failed_at, of_rows};
  }
};

}  // namespace lasolve
