// LU without interchanges: A = L U, which exists and is stable where A is diagonally dominant, by rows or by columns. What its tasks do,
// over triangular solves, the GEMM backend, and one primitive: factor_without_pivots of a small block.
// Source: Golub & Van Loan, "Matrix Computations", section 3.2; Higham, "Accuracy and Stability of Numerical Algorithms", section 9.5.
#pragma once

#include "solvers/by_halves.hpp"
#include "solvers/flops.hpp"
#include "solvers/method.hpp"
#include "solvers/trsm.hpp"
#include "solvers/workpiece.hpp"

namespace lasolve {

namespace lu_nopivot_task {

/// C = L U1, U1 upper triangular with as many columns as C.
inline constexpr TaskType panel{
    .name = "panel",
    .phase = Phase::panel,
    .picture = TaskType::panel,
    .touches =
        [](const Task& task, BlockList&, BlockList& writes) {
          writes.add(task.C), writes.add({Resource::status, {0, 1}});
        },
    .flops = [](const Task& task) { return lu_panel_flops(double(task.C.m), double(task.C.n)); }};
/// C ← C − L U.
inline constexpr TaskType update{.name = "update",
                                 .phase = Phase::gemm,
                                 .picture = TaskType::update,
                                 .flops = flops_of_product,
                                 .is_product = true,
                                 .in_columns = task_in_columns};
/// C ← inv(L) C, L unit lower triangular.
inline constexpr TaskType solve{.name = "solve",
                                .phase = Phase::trsm,
                                .picture = TaskType::solve,
                                .flops = flops_of_solve,
                                .products = &update,
                                .in_columns = task_in_columns};

}  // namespace lu_nopivot_task

/// The most columns of a block that factor_without_pivots takes.
inline constexpr std::int64_t block_without_pivots = 32;

/// A = L U of a small block, n × n, in place: U, and L below the diagonal with its unit diagonal left out. The first column whose pivot is
/// zero is written to `status`, 1 × 1, if that is −1; `first` is the column of A in the matrix. What follows it is not meaningful.
template <class T>
void factor_without_pivots(Queue<Cpu>&, MatrixView<T, Cpu>, std::int64_t first, MatrixView<std::int64_t, Cpu> status);
template <class T>
void factor_without_pivots(Queue<Cuda>&, MatrixView<T, Cuda>, std::int64_t first,
                           MatrixView<std::int64_t, Cuda> status);

struct LuNopivot {
  static const MethodRecord record;

  /// On exit of all, A holds U and, below the diagonal, L with its unit diagonal left out.
  template <class T, class Space>
  static void perform(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& of) {
    const auto C = of.at(task.C);
    if (task.is(lu_nopivot_task::panel))
      return panel(q, of.gemm, C, task.C.i, of.pivots.zero);  // [A11; A21] = [L11; L21] U11
    if (task.is(lu_nopivot_task::solve))                      // U12 = inv(L11) A12
      return trsm_left(q, of.gemm, lower_unit(of.at(task.L)), C);
    if (task.is(lu_nopivot_task::update))  // A22 ← A22 − L21 U12
      return of.gemm(q, T(-1), of.at(task.L), of.at(task.U), T(1), C);
    throw std::logic_error("lasolve: a plan has a task that its method has not");
  }

 private:
  /// Of a panel, m × n with m ≥ n, by halving its columns.
  template <class T, class Space>
  static void panel(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> A, std::int64_t first,
                    MatrixView<std::int64_t, Space> status) {
    const std::int64_t m = A.rows(), n = A.cols();
    if (n <= block_without_pivots) {
      const auto A11 = A.block(0, 0, n, n);
      factor_without_pivots(q, A11, first, status);                     // A11 = L11 U11
      return trsm_right(q, gemm, upper(A11), A.block(n, 0, m - n, n));  // L21 = A21 inv(U11)
    }
    const std::int64_t n1 = first_half(n, block_without_pivots), n2 = n - n1;
    const auto A12 = A.block(0, n1, n1, n2), A22 = A.block(n1, n1, m - n1, n2);
    panel(q, gemm, A.columns(0, n1), first, status);             // [A11; A21] = [L11; L21] U11
    trsm_left(q, gemm, lower_unit(A.block(0, 0, n1, n1)), A12);  // U12 = inv(L11) A12
    gemm(q, T(-1), A.block(n1, 0, m - n1, n1), A12, T(1), A22);  // A22 ← A22 − L21 U12
    panel(q, gemm, A22, first + n1, status);                     // A22 = L22 U22
  }
};

}  // namespace lasolve
