// What tasks of Cholesky are.
#pragma once

#include "solvers/plan.hpp"

namespace lasolve::cholesky_task {

/// An update, and an update_lower: that of a block column, from its diagonal down.
Task update_in_columns(const Task&, Range);
Task product_in_columns(const Task&, Range);

/// C = L L1ᵀ, L1 the first rows of L.
inline constexpr TaskType panel{
    .name = "panel", .picture = TaskType::panel, .touches = [](const Task& task, BlockList&, BlockList& writes) {
      writes.add(task.C), writes.add({Resource::status, {0, 1}});
    }};
/// C ← C − L Uᵀ, C below the diagonal. Made by lowering.
inline constexpr TaskType product{
    .name = "product", .picture = TaskType::update, .is_product = true, .in_columns = product_in_columns};
/// C ← C inv(L)ᵀ, L lower triangular.
inline constexpr TaskType solve{.name = "solve", .picture = TaskType::solve, .products = &product};
/// C ← C − L Uᵀ from the diagonal of C down, U the first rows of L.
inline constexpr TaskType update{.name = "update",
                                 .picture = TaskType::update,
                                 .touches =
                                     [](const Task& task, BlockList& reads, BlockList& writes) {
                                       reads.add(task.L), reads.add(task.U), reads.add(task.device);
                                       writes.add(task.C);
                                     },
                                 .is_product = true,
                                 .in_columns = update_in_columns};
/// C ← C − L Lᵀ on and below the diagonal, with which C begins.
inline constexpr TaskType update_lower{
    .name = "update_lower", .picture = TaskType::update, .is_product = true, .in_columns = update_in_columns};
/// As update, of few columns within a panel; C may be below the diagonal. Made by lowering. A device may have a kernel of its own for it.
inline constexpr TaskType narrow_update{.name = "narrow_update",
                                        .picture = TaskType::update,
                                        .touches = [](const Task& task, BlockList& reads, BlockList& writes) {
                                          reads.add(task.L), reads.add(task.U);
                                          writes.add(task.C), writes.add(task.device);
                                        }};

}  // namespace lasolve::cholesky_task
