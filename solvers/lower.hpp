// How a plan is rewritten for what the kernels of a device can do. The result computes the same factors, up to rounding.
#pragma once

#include "core/device_properties.hpp"
#include "lasolve/tuning.hpp"
#include "solvers/plan.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

struct Recipe;

/// How many multiprocessors panels of LU have to themselves while products that are quick go on beside them; 0: they share all. A panel has
/// them that has at most so many rows, where more columns are left than `beyond`.
struct PanelPartition {
  int multiprocessors = 0;
  std::int64_t rows = 0, beyond = 0;
  bool operator==(const PanelPartition&) const = default;
};

/// What the kernels of a device can do. With nothing of it a plan stays what it is.
struct Capabilities {
  /// Columns of a panel that one kernel factors; 0: any. Of a panel of more than `rows_of_panel` rows: `tall_panel`.
  std::int64_t panel = 0, tall_panel = 0, rows_of_panel = 0;
  /// Columns of a panel that one kernel factors with its rows left where they were found.
  std::int64_t panel_in_place = 0;
  /// Columns that one kernel brings up to date with such a panel: it interchanges their rows, solves and multiplies.
  std::int64_t lookahead_update = 0;
  /// Interchanges that are combined into one permutation, so that rows move once.
  std::int64_t combined = 0;
  /// What is wanted soon is updated with two steps at a time: half as many kernels, with twice the k.
  bool two_steps = false;
  /// The rows of L to the left are interchanged twice: when the trailing update has no more to do, and when all panels are factored.
  bool rows_of_L_at_the_end = false;
  /// So many columns at the end have a lane of their own, behind all others.
  std::int64_t far_columns = 0;
  /// Panels beside which products run have multiprocessors of their own.
  PanelPartition panel_partition = {};
  /// Timing marks between short kernels cost more than they tell: in look-ahead only the bulk has them, and where more
  /// columns than so many are left, each step of the chain. Below zero: every task has its own.
  std::int64_t timed_beyond = -1;

  /// Of a panel of a left-looking Cholesky, columns that one kernel factors; 0: such a Cholesky stays as it is.
  std::int64_t cholesky_leaf = 0;
  CholeskyLimits cholesky = {};
  /// Columns of its diagonal block that are updated at once.
  std::int64_t diagonal_update = 0;
  /// Columns of a symmetric update of other Choleskys that is not halved; 0: none is.
  std::int64_t symmetric_update = 0;
  /// What is left of one, when the columns of the next panel but one are up to date, is one task: products are quick, and a backend
  /// that is quick has a function for a triangle (GemmKernel::lower). One that has none halves it within the task.
  bool one_symmetric_product = false;
  /// The least n where its steps are timed one by one.
  std::int64_t cholesky_timed_from = 0;

  /// Triangular solves become solves with diagonal blocks that one kernel takes, and the products between them; with an order of 0 each is
  /// one task.
  SolveLimits solves = {};
  /// Of which the first begins a phase and the others are parts of it: as above, marks cost more than they tell.
  bool solves_in_one_phase = false;

  bool operator==(const Capabilities&) const = default;
};

Capabilities capabilities_of_cpu(const Tuning&);
/// Those of a CUDA device, for factors of an n × n matrix that are stored in fp64 or fp32: what its kernels take
/// (solvers/kernel_limits.hpp), and its tuning. `late`: as rows_of_L_at_the_end.
Capabilities capabilities_of(const DeviceProperties&, const Tuning&, Precision storage, std::int64_t n, bool late);
/// The same where the device is not there to be asked whether it has room for a cluster: `late` as its properties allow.
Capabilities capabilities_of(const DeviceProperties&, const Tuning&, Precision storage, std::int64_t n);

/// What both devices can do, where cards that are unlike share a plan. What is no limit of a device, but chosen by its tuning, is the first's.
Capabilities common(const Capabilities& first, const Capabilities& other);

/// For products that are quick; nothing of it where a matrix has no panels that they hide.
PanelPartition panel_partition(DeviceProperties, const Tuning&, std::int64_t n, Pivoting);
/// The capabilities as a recipe uses them, without the partition of panels: whether multiprocessors can be shared out is not known here. Products
/// that are quick make a symmetric update one task. Where rows of panels play in tournaments, registers need not hold all of them at once.
Capabilities for_recipe(Capabilities, const Recipe&);

/// A pure function. Flops, blocks and the order of their versions are those of the plan. New in it, where the capabilities say so:
///   panels of more columns than one kernel factors become narrower ones, and the products between them
///   panel_in_place, lookahead_update, and an interchange of the rows of that panel behind them
///   combine, which writes a block of Resource::permutations, and interchanges that read it instead of pivots
///   prepend, which writes Resource::later, and interchanges of rows of L that read it
///   of a left-looking Cholesky, rows of a panel apart from the block on its diagonal, and narrow_update
///   of other Choleskys, the halves of an update_lower, and the products below them
///   the products in triangular solves: of Cholesky as tasks of a type of their own
/// An interchange is then one kernel: it reads the pivots of one panel, or what was combined at one time.
/// A plan of one panel is lowered, and ends in one lane. Of one that has one lane from the beginning, only solves are lowered.
Plan lower(Plan, const Capabilities&);

}  // namespace lasolve
