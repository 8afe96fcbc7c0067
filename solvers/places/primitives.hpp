// A place as a concept: the primitives that it provides, what each does, and the default of those that it may leave out. A place
// overloads the others for its own Queue, and a default where it does better.
#pragma once

#include <concepts>

#include "core/fetched.hpp"
#include "solvers/ending.hpp"
#include "solvers/execute.hpp"

namespace lasolve {

/// The lanes that a plan is made for. One: what is given to a queue is done, so nothing runs beside anything else.
template <class Place>
Lanes lanes_at(const Queue<Place>&) {
  return Lanes::one();
}

/// What a plan is lowered for, of factors of an n × n matrix that are stored as T. By default it is not.
template <class T, class Place>
Capabilities capabilities_of(const Queue<Place>&, std::int64_t) {
  return {};
}

/// Made before its plan runs, and kept until all of it is done. Plans that are not lowered hand on nothing.
template <class T, class Place>
struct Buffers {
  explicit Buffers(const Plan&) {}
};

/// Does a task that only lowered plans have.
template <class T, class Place>
void perform_lowered(Queue<Place>&, const Task&, const Workpiece<T, Place>&) {
  throw std::logic_error("lasolve: a plan was lowered for another place than this");
}

/// Where what is given to a queue is done, there is nothing to wait for.
template <class Place>
class TaskEnds {
 public:
  TaskEnds(Queue<Place>&, const OrderedPlan&) {}
  void mark(Queue<Place>&, std::size_t) {}
  void wait(Queue<Place>&, std::size_t, bool) {}
};

/// Makes what a queue needs once, before the clock runs. A: n × n.
template <class T, class Place>
void prepare(Queue<Place>&, Method, std::int64_t) {}

/// Whether C became C − L L1ᵀ, with few columns, by a kernel made for that. By default the GEMM backend does it.
template <class T, class Place>
bool update_at_once(Queue<Place>&, MatrixView<T, Place>, MatrixView<T, Place>, MatrixView<T, Place>) {
  return false;
}

/// Whether the host knows, without waiting, that a factorization has failed.
template <class Place>
bool known_to_have_failed(const Queue<Place>&, MatrixView<std::int64_t, Place>) {
  return false;
}

/// How many of so many right-hand sides are solved for at once, with a triangle of order n. By default all.
template <class Place>
std::int64_t sides_at_once(const Queue<Place>&, std::int64_t, std::int64_t nrhs) {
  return nrhs;
}

/// Whether LU, Cholesky and triangular solves of T run at a place. T: what factors are stored as.
template <class T, class Place>
concept HasPrimitives = requires(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
                                 MatrixView<const T, Place> X, Pivots<Place> pivots, Minors<Place> minors,
                                 Triangle<T, Place> tri, std::int64_t n) {
  // P A = L U of a panel, m × n with m ≥ n, with its rows interchanged.
  panel_lu(q, gemm, A, pivots);
  // A ← P A, with the interchanges of a panel, or with those that were combined. Row 0 of A is row pivots.start.
  interchange_rows(q, A, pivots, Resource::pivots);
  // A ← P X, or Pᵀ X, with all of a finished factorization. A may be X.
  permute_rows(q, X, A, pivots, false);
  // How that ended.
  { ending_of(q, X, pivots.zero) } -> std::convertible_to<Fetched<Ending>>;
  // [A11; A21] = [L11; L21] L11ᵀ, with at most so many columns. The first minor that is not positive is written down.
  { cholesky_leaf_columns(q, A) } -> std::convertible_to<std::int64_t>;
  panel_cholesky_leaf(q, gemm, A, minors);
  // A ← inv(T) A, and A ← A inv(T), for a triangle of at most leaf_order, by the columns or rows of A.
  { leaf_order<T>(q, n) } -> std::convertible_to<std::int64_t>;
  solve_leaf(q, tri, A);
  solve_leaf_right(q, tri, A);
  // A ← X, rounded where A is coarser; A ← x.
  convert(q, X, A);
  fill(q, T(0), A);
  // The other triangle from the one that is there: of lower, A(j, i) ← A(i, j) for i > j.
  mirror(q, A, Uplo::lower);
};

}  // namespace lasolve
