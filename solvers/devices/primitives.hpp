// A device as a concept: the primitives that it provides, what each does, and the default of those that it may leave out. Three
// defaults are elsewhere: copy_to_factor and copy_and_measure in matrix_facts.hpp, residual_with_norms in refine/residual.hpp. A device overloads
// the others for its own Queue, and a default where it does better. docs/add-a-primitive.md says how one is added.
#pragma once

#include <concepts>
#include <vector>

#include "core/fetched.hpp"
#include "core/symmetric.hpp"
#include "solvers/ending.hpp"
#include "solvers/execute.hpp"
#include "solvers/matrix_facts.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/recipe.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// The lanes that a plan is made for. One: what is given to a queue is done, so nothing runs beside anything else.
template <class Space>
Lanes lanes_at(const Queue<Space>&) {
  return Lanes::one();
}

/// What a plan is lowered for, of factors of an n × n matrix that are stored as T, by a recipe, of which products and pivoting count. By default it is not.
template <class T, class Space>
Capabilities capabilities_of(const Queue<Space>&, std::int64_t, const Recipe&) {
  return {};
}

/// Made before its plan runs, and kept until all of it is done. Plans that are not lowered hand on nothing.
template <class T, class Space>
struct Buffers {
  explicit Buffers(const Plan&) {}
};

/// Does a task that only lowered plans have.
template <class T, class Space>
void perform_lowered(Queue<Space>&, const Task&, const Workpiece<T, Space>&) {
  throw std::logic_error("lasolve: a plan was lowered for another device than this");
}

/// Where what is given to a queue is done, there is nothing to wait for.
template <class Space>
class TaskEnds {
 public:
  TaskEnds(Queue<Space>&, const OrderedPlan&) {}
  void mark(Queue<Space>&, std::size_t) {}
  void wait(Queue<Space>&, std::size_t, bool) {}
};

/// Makes what the tasks of a plan, and solves with its factors, take of the queues that they run on and a queue makes once: before the
/// clock runs. `bulk` is the queue that execute() is given. Products are prepared by their backend.
template <class T, class Space>
void prepare(Queue<Space>& /*bulk*/, const Plan&, Pivoting) {}

/// Whether C became C − L L1ᵀ, with few columns, by a kernel made for that. By default the GEMM backend does it.
template <class T, class Space>
bool try_narrow_update(Queue<Space>&, MatrixView<T, Space>, MatrixView<T, Space>, MatrixView<T, Space>) {
  return false;
}

/// Whether the host knows, without waiting, that a factorization has failed.
template <class Space>
bool known_to_have_failed(const Queue<Space>&, MatrixView<std::int64_t, Space>) {
  return false;
}

/// How many of so many right-hand sides are solved for at once, with a triangle of order n. By default all.
template <class Space>
std::int64_t rhs_at_once(const Queue<Space>&, std::int64_t, std::int64_t nrhs) {
  return nrhs;
}

/// X ← inv(T) B, or inv(T) P B with the permutation of a finished factorization. X may be B. By default in two steps.
template <class T, class Space, class Products, class Triangular>
void trsm_left(Queue<Space>& q, const Products& gemm, const Triangular& tri,
               std::type_identity_t<MatrixView<const T, Space>> B, const Pivots<Space>* P, MatrixView<T, Space> X) {
  if (P)
    permute_rows(q, B, X, *P, false);
  else
    convert(q, B, X);
  trsm_left(q, gemm, tri, X);
}

/// What a device's kernels compute for LU, Cholesky and triangular solves of T. T: what factors are stored as.
template <class T, class Space>
concept HasKernels = requires(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> A,
                              MatrixView<const T, Space> X, Pivots<Space> pivots, Minors<Space> minors,
                              Triangle<T, Space> tri, std::int64_t n, const std::vector<double>& weights) {
  // P A = L U of a panel, m × n with m ≥ n, with its rows interchanged.
  panel_lu(q, gemm, A, pivots, Pivoting::partial);
  // A ← P A, with the interchanges of a panel, or with those that were combined. Row 0 of A is row pivots.start.
  interchange_rows(q, A, pivots, Resource::pivots);
  // A ← P X, or Pᵀ X, with all of a finished factorization. A may be X.
  permute_rows(q, X, A, pivots, false);
  // How that ended.
  { ending_of(q, X, pivots.zero) } -> std::convertible_to<Fetched<Ending>>;
  // How large its L or U is.
  { sizes_of_part(q, PartOfFactors<T, Space>{X, Factor::U, n}, weights) } -> std::convertible_to<Fetched<SizesOfPart>>;
  // [A11; A21] = [L11; L21] L11ᵀ, with at most so many columns. The first minor that is not positive is written down.
  { cholesky_leaf_columns(q, A) } -> std::convertible_to<std::int64_t>;
  panel_cholesky_leaf(q, gemm, A, minors);
  { try_narrow_update(q, A, A, A) } -> std::same_as<bool>;
  // A ← inv(T) A, and A ← A inv(T), for a triangle of at most leaf_order, by the columns or rows of A.
  { leaf_order<T>(q, n) } -> std::convertible_to<std::int64_t>;
  solve_leaf(q, tri, A);
  solve_leaf_right(q, tri, A);
  trsm_left(q, gemm, tri, X, &pivots, A);
  { rhs_at_once(q, n, n) } -> std::convertible_to<std::int64_t>;
  // A ← X, rounded where A is coarser; A ← x; A ← X with the note that nothing has failed yet.
  convert(q, X, A);
  fill(q, T(0), A);
  copy_to_factor(q, X, A, pivots.zero);
  // The other triangle from the one that is there: of lower, A(j, i) ← A(i, j) for i > j.
  mirror(q, A, Uplo::lower);
};

/// How a device runs plans. Interchanges, TaskEnds and TaskClock are classes of it, and Buffers is one for each T.
template <class T, class Space>
concept RunsPlans = requires(Queue<Space>& q, const Plan& plan, const OrderedPlan& ordered, const Task& task,
                             const Workpiece<T, Space>& of, const TaskWatcher& watcher, TaskEnds<Space>& ends,
                             TaskClock<Space>& clock, const Recipe& by, bool (*give)(),
                             MatrixView<std::int64_t, Space> numbers, std::size_t i) {
  { lanes_at(q) } -> std::convertible_to<Lanes>;
  { capabilities_of<T>(q, plan.n, by) } -> std::same_as<Capabilities>;
  prepare<T>(q, plan, Pivoting::partial);
  Buffers<T, Space>(plan);
  perform_lowered(q, task, of);
  { known_to_have_failed(q, numbers) } -> std::same_as<bool>;
  // What the interchanges of n rows are worked out in: n rows of so many columns.
  { Interchanges<Space>::columns } -> std::convertible_to<std::int64_t>;
  { Interchanges<Space>(numbers).block(plan.n) } -> std::same_as<Interchanges<Space>>;
  TaskEnds<Space>(q, ordered);
  ends.mark(q, i);
  ends.wait(q, i, true);
  TaskClock<Space>(q, watcher);
  { clock.time(q, task, give) } -> std::same_as<bool>;
  clock.tell();
};

/// What judges and refines solutions, for matrices and right-hand sides of T. On a device the host waits where it reads what was fetched.
template <class T, class Space>
concept HasNorms = requires(Queue<Space>& q, Operand<T, Space> op_A, Symmetric<T, Space> half,
                            MatrixView<const T, Space> X, MatrixView<T, Space> R, MatrixView<const float, Space> coarse,
                            MatrixView<std::int64_t, Space> status, const Matrix<std::int64_t, Space>& exponents,
                            const std::vector<double>& weights) {
  // R ← B − op(A) X, where A is given whole or as a triangle of a symmetric matrix; and the largest magnitudes in the columns of B, X
  // and R.
  residual(q, op_A, X, X, R);
  residual(q, half, X, X, R);
  { residual_with_norms<T>(q, op_A, X, X, R) } -> std::convertible_to<Fetched<std::vector<double>>>;
  // The largest magnitude in each column; NaN where there is one.
  { column_norms<T>(q, X) } -> std::convertible_to<Fetched<std::vector<double>>>;
  // The sum of the magnitudes in each row, times a power of two, or with a weight for each column.
  { row_sums_of_magnitudes(q, op_A, 1.0) } -> std::convertible_to<Fetched<std::vector<double>>>;
  { row_sums_of_magnitudes(q, half, 1.0) } -> std::convertible_to<Fetched<std::vector<double>>>;
  { row_sums_of_magnitudes(q, op_A, weights) } -> std::convertible_to<Fetched<std::vector<double>>>;
  { row_sums_of_magnitudes(q, half, weights) } -> std::convertible_to<Fetched<std::vector<double>>>;
  // Whether X = Xᵀ but for roundoff (equal_but_for_roundoff), with a positive diagonal; and the same while it is copied.
  { may_be_positive_definite(q, X) } -> std::convertible_to<Fetched<bool>>;
  { copy_and_measure(q, X, R, status) } -> std::convertible_to<Fetched<MatrixFacts>>;
  // R ← R + D, where D may be coarser; R ← 2^exponent X; and with exponents of rows and of columns besides, which may be empty.
  add(q, coarse, R);
  scale<T>(q, 1, X, R);
  scale_to(q, 1, exponents, exponents, X, R);
  // R ← B − op(A) (X + R'), and X + R' ← X + R' + D, in twice the precision: R' is what is below the last digit of X.
  residual_in_two(q, op_A, X, X, X, R);
  residual_in_two(q, half, X, X, X, R);
  add_in_two(q, X, R, R);
};

/// Whether systems of T are solved on a device.
template <class T, class Space>
concept HasPrimitives = HasKernels<T, Space> && RunsPlans<T, Space> && HasNorms<T, Space>;

}  // namespace lasolve
