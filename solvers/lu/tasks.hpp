// What tasks of LU are.
#pragma once

#include <limits>

#include "solvers/flops.hpp"
#include "solvers/plan.hpp"

namespace lasolve::lu_task {

inline constexpr Block packed_L11(Resource::packed_L11, {0, 1}), status(Resource::status, {0, 1});
/// Of a resource that has as many rows as A, those from row i on.
constexpr Block from(Resource of, std::int64_t i) { return {of, {i, std::numeric_limits<std::int64_t>::max()}}; }

/// P C = L U, with the interchanges of the panel.
inline constexpr TaskType panel{
    .name = "panel",
    .phase = Phase::panel,
    .picture = TaskType::panel,
    .touches =
        [](const Task& task, BlockList&, BlockList& writes) {
          writes.add(task.C), writes.add(task.interchanges), writes.add(status), writes.add(task.device);
        },
    .flops = [](const Task& task) { return lu_panel_flops(double(task.C.m), double(task.C.n)); }};
/// C ← P C.
inline constexpr TaskType interchange{
    .name = "interchange", .phase = Phase::swap, .picture = TaskType::interchange, .in_columns = task_in_columns};
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
/// C, of the permutations, ← the interchanges as one permutation; the order is brought up to date.
inline constexpr TaskType combine{
    .name = "combine", .phase = Phase::swap, .touches = [](const Task& task, BlockList& reads, BlockList& writes) {
      reads.add(task.interchanges);
      writes.add(task.C);
      // Both are workspace of whoever combines.
      writes.add(from(Resource::order, task.C.i)), writes.add(from(Resource::later, 0));
    }};

// What lowering puts in the place of others.

/// As panel, but the rows of C stay where they were found, U among them: C = Pᵀ L U.
inline constexpr TaskType panel_in_place{.name = "panel_in_place",
                                         .phase = Phase::panel,
                                         .picture = TaskType::panel,
                                         .touches =
                                             [](const Task& task, BlockList& reads, BlockList& writes) {
                                               panel.touches(task, reads, writes);
                                               writes.add(packed_L11);
                                             },
                                         .flops = panel.flops};
/// Interchange, solve and update of C with a panel L that was left in place, whose interchanges it hands on: what else a panel is needed
/// for must not hold up what the next panel waits for.
inline constexpr TaskType lookahead_update{.name = "lookahead_update",
                                           .phase = Phase::panel,
                                           .picture = TaskType::update,
                                           .touches =
                                               [](const Task& task, BlockList& reads, BlockList& writes) {
                                                 reads.add(task.L), reads.add(packed_L11), reads.add(task.interchanges);
                                                 writes.add(task.C), writes.add(task.interchanges);
                                               },
                                           .flops =
                                               [](const Task& task) {
                                                 const double m = double(task.L.m), k = double(task.L.n);
                                                 return (2 * m - k) * k * double(task.C.n);
                                               }};
/// C, of the later interchanges, ← none.
inline constexpr TaskType begin_later{.name = "begin_later", .phase = Phase::swap};
/// C, of the later interchanges, ← the combined interchanges of a panel, and then those.
inline constexpr TaskType prepend{.name = "prepend", .phase = Phase::swap};

}  // namespace lasolve::lu_task
