// What tasks of Cholesky are.
#pragma once

#include "solvers/flops.hpp"
#include "solvers/plan.hpp"

namespace lasolve::cholesky_task {

/// Of an update from the diagonal of C down.
double flops_of_update(const Task&);
/// An update, and an update_lower: that of a block column, from its diagonal down.
Task update_in_columns(const Task&, Range);
Task product_in_columns(const Task&, Range);

/// C = L L1ᵀ, L1 the first rows of L.
inline constexpr TaskType panel{
    .name = "panel",
    .phase = Phase::panel,
    .picture = TaskType::panel,
    .touches =
        [](const Task& task, BlockList&, BlockList& writes) {
          writes.add(task.C), writes.add({Resource::status, {0, 1}});
        },
    .flops = [](const Task& task) { return cholesky_panel_flops(double(task.C.m), double(task.C.n)); }};
/// C ← C − L Uᵀ, C below the diagonal. Made by lowering.
inline constexpr TaskType product{.name = "product",
                                  .phase = Phase::gemm,
                                  .picture = TaskType::update,
                                  .flops = flops_of_product,
                                  .is_product = true,
                                  .in_columns = product_in_columns};
/// C ← C inv(L)ᵀ, L lower triangular.
inline constexpr TaskType solve{
    .name = "solve", .phase = Phase::trsm, .picture = TaskType::solve, .flops = flops_of_solve, .products = &product};
/// C ← C − L Uᵀ from the diagonal of C down, U the first rows of L.
inline constexpr TaskType update{.name = "update",
                                 .phase = Phase::gemm,
                                 .picture = TaskType::update,
                                 .touches =
                                     [](const Task& task, BlockList& reads, BlockList& writes) {
                                       reads.add(task.L), reads.add(task.U), reads.add(task.device);
                                       writes.add(task.C);
                                     },
                                 .flops = flops_of_update,
                                 .is_product = true,
                                 .in_columns = update_in_columns};
/// C ← C − L Lᵀ on and below the diagonal, with which C begins.
inline constexpr TaskType update_lower{.name = "update_lower",
                                       .phase = Phase::gemm,
                                       .picture = TaskType::update,
                                       .flops = flops_of_update,
                                       .is_product = true,
                                       .in_columns = update_in_columns};
/// As update, of few columns within a panel; C may be below the diagonal. Made by lowering. A device may have a kernel of its own for it.
inline constexpr TaskType narrow_update{
    .name = "narrow_update",
    .phase = Phase::panel,
    .picture = TaskType::update,
    .touches =
        [](const Task& task, BlockList& reads, BlockList& writes) {
          reads.add(task.L), reads.add(task.U);
          writes.add(task.C), writes.add(task.device);
        },
    .flops = [](const Task& task) { return task.L.i == task.U.i ? flops_of_update(task) : flops_of_product(task); }};

}  // namespace lasolve::cholesky_task
