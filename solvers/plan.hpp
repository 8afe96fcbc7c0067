// A schedule as a value: what is done to which blocks, in program order, and how soon each task is waited for.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// What tasks share.
enum class Resource : std::uint8_t {
  matrix,        ///< A
  pivots,        ///< the row interchanges: those of step i in row i of one column
  permutations,  ///< interchanges that were combined, in the rows of these
  order,         ///< which row of A has come to each place, by all interchanges that were combined
  later,         ///< what the interchanges of later panels do to each row
  packed_L11,    ///< 1 × 1: L11 of the last panel that was left in place, for the next task
  device,        ///< no memory: what some task is to have first, while another would hold it up
  status         ///< 1 × 1: where the factorization failed, or that it has not
};

/// Columns, or rows, begin, …, end − 1; none where end ≤ begin.
struct Range {
  std::int64_t begin = 0, end = 0;

  constexpr std::int64_t count() const { return std::max<std::int64_t>(0, end - begin); }
  constexpr bool empty() const { return end <= begin; }
  bool operator==(const Range&) const = default;
};

/// The m × n block of a resource whose first element is (i, j).
struct Block {
  std::int64_t i = 0, j = 0, m = 0, n = 0;
  Resource of = Resource::matrix;
  std::int16_t card = 0;  ///< in the memory of which card; reads_of() and writes_of() say it

  constexpr Block() = default;
  constexpr Block(Range rows, Range columns) : i(rows.begin), j(columns.begin), m(rows.count()), n(columns.count()) {}
  constexpr Block(Resource of, Range rows) : i(rows.begin), m(rows.count()), n(1), of(of) {}

  constexpr bool empty() const { return m == 0 || n == 0; }
  constexpr Range rows() const { return {i, i + m}; }
  constexpr Range columns() const { return {j, j + n}; }
  bool operator==(const Block&) const = default;
};

/// Whether two blocks have an element in common.
bool overlap(const Block&, const Block&);

/// A line of tasks of a card that run one after the other. Of two that could run, the one of higher rank goes first; those of two
/// lines of one rank fill each other's gaps.
struct Lane {
  int rank = 0, line = 0, card = 0;
  /// Above 0: its tasks have so many multiprocessors to themselves. Below: they have all but these.
  int multiprocessors = 0;
  auto operator<=>(const Lane&) const = default;
};

/// By how soon somebody waits for what is done there: `chain` is what everything waits for, `near` is wanted at the next step,
/// `soon` at the next panel, `bulk` is the rest, and `far` what of the rest is wanted last.
struct Lanes {
  Lane far, bulk, soon, near, chain;

  /// For a device that has one queue.
  static constexpr Lanes one() { return only({}); }
  static constexpr Lanes only(Lane lane) { return {lane, lane, lane, lane, lane}; }
  constexpr bool single() const { return *this == only(bulk); }
  bool operator==(const Lanes&) const = default;
  /// Whether what a lane does should leave room for others beside it: so does the bulk. What is far has but the gaps anyway.
  constexpr bool leaves_room(Lane lane) const {
    return lane.rank == bulk.rank && bulk.rank < chain.rank && lane.multiprocessors == 0;
  }
  /// "chain", "near", …; where all are one, "bulk". "bulk 2" and "chain 2" are second lanes of the same rank, which lower() makes,
  /// "panels" and "bulk beside" those that share out multiprocessors, and "copies" what comes from other cards.
  const char* name_of(Lane) const;
};
/// The four that schedules use, and `far`, which lower() uses too.
inline constexpr Lanes four_lanes{.far = {-1, 0}, .bulk = {0, 0}, .soon = {1, 1}, .near = {1, 0}, .chain = {2, 0}};

/// The line of the chain's rank in which a card has what comes from others.
inline constexpr int copies_line = 2;

/// What a task is for, where lowering has to know it and the blocks alone do not say it.
enum class Role : std::uint8_t {
  none,
  elimination,   ///< interchange, solve and update of the same columns with the same panel, one behind the other
  L_in_panel,    ///< an interchange of rows of L: of the steps before this one, of the same panel
  L_to_the_left  ///< an interchange of rows of L: of the panels before this one
};

/// A few blocks.
struct BlockList {
  std::array<Block, 5> all;
  std::size_t count = 0;
  /// Throws std::logic_error where there is no room: a task that touches more wants a longer list.
  void add(const Block& b) {
    if (b.empty()) return;
    if (count == all.size()) throw std::logic_error("lasolve: a task touches more blocks than BlockList has room for");
    all[count++] = b;
  }
  /// All are in the memory of this card.
  void on(int card) {
    for (std::size_t b = 0; b < count; ++b) all[b].card = std::int16_t(card);
  }
  const Block* begin() const { return all.data(); }
  const Block* end() const { return all.data() + count; }
};

struct Task;

/// What a kind of task is like, which its method says: solvers/lu/tasks.hpp, solvers/cholesky/tasks.hpp. It is known by its address.
struct TaskType {
  /// How it is drawn, and what a model of its time goes by.
  enum Picture : std::uint8_t { none, arrive, panel, interchange, solve, update };
  /// Adds the blocks that a task reads and writes; what is written may be read as well.
  using Touches = void (*)(const Task&, BlockList& reads, BlockList& writes);

  const char* name;
  Phase phase = Phase::other;
  Picture picture = none;
  Touches touches = nullptr;               ///< null: reads L, U and interchanges, and writes C
  double (*flops)(const Task&) = nullptr;  ///< textbook count, by the blocks; null: none
  bool is_product = false;                 ///< the GEMM backend does all of it
  /// Of a triangular solve with L, from the left or from the right of C, where the first unknowns are found first: the products in it.
  const TaskType* products = nullptr;
  /// The task for some columns of C alone, with the bits that all have; null: there is none.
  Task (*in_columns)(const Task&, Range) = nullptr;
};

/// One line of mathematics. Blocks that it does not need are empty.
struct Task {
  const TaskType* type;
  Lane lane;
  /// Whether it begins a phase of the report, phase(). Else its time and flops belong to the phase that its lane is in or, where
  /// that has had none yet, to the one that the chain is in.
  bool timed = true;
  bool in_panel = false;  ///< lowering made it a part of what factors panels
  Role role = Role::none;
  Block C = {};          ///< is written
  Block L = {}, U = {};  ///< are read
  Block interchanges =
      {};             ///< of the pivots, combined, or later: written by panels, read by what interchanges or combines
  Block device = {};  ///< is written by an update that goes first, and read by the update that would hold it up
  int from = 0;       ///< of a send: the card that has what its own is to have, at L where that is not empty, else at C

  bool is(const TaskType& t) const { return type == &t; }
  Phase phase() const { return in_panel ? Phase::panel : type->phase; }
  double flops() const { return type->flops ? type->flops(*this) : 0; }
};
BlockList reads_of(const Task&);
BlockList writes_of(const Task&);  ///< what is written may be read as well

/// Of a task whose C depends on the same columns of U, if there is one, and on nothing else that has its columns.
Task task_in_columns(const Task&, Range);
/// Of C ← C − L U; and of a triangular solve with L for C, from the left or from the right.
double flops_of_product(const Task&);
double flops_of_solve(const Task&);

/// What every method may have: C is there; what follows may be left out when the factorization has failed; and C, with the interchanges of
/// its columns and U where that is no block of a matrix, is copied from the memory of another card to that of the own.
namespace any_task {
inline constexpr TaskType arrive{.name = "arrive", .picture = TaskType::arrive, .in_columns = task_in_columns};
inline constexpr TaskType send{
    .name = "send", .picture = TaskType::arrive, .touches = [](const Task& task, BlockList& reads, BlockList& writes) {
      reads.add(task.L.empty() ? task.C : task.L), writes.add(task.C);
      for (BlockList* of : {&reads, &writes}) of->add(task.interchanges), of->add(task.U);
    }};
inline constexpr TaskType stop_if_failed{.name = "stop_if_failed",
                                         .touches = [](const Task&, BlockList& reads, BlockList&) {
                                           reads.add({Resource::status, {0, 1}});
                                         }};
}  // namespace any_task

/// Whether two tasks touch the same element, and one of them writes it: then their order counts.
bool conflict(const Task& before, const Task& after);

/// Tasks in program order: run one after the other, they factor an m × n matrix.
struct Plan {
  Method method = Method::lu;
  std::int64_t m = 0, n = 0;
  Lanes lanes;
  std::vector<Task> tasks = {};
  int cards = 1;  ///< that have tasks
};

/// How wide panels are, and the steps within them. A recipe says it; a schedule asks for one after the other.
struct Widths {
  std::int64_t panel = 1;  ///< columns at most
  std::int64_t step = 0;   ///< columns that are factored at a time within a panel; 0: all of it
  /// Where the first and the last panels are narrower: at column j a panel has at most of_before · j columns, and 1 / part_of_rest of the
  /// columns from j on, in whole units, but at least `least`. 0: no such limit.
  std::int64_t least = 0, unit = 1, part_of_rest = 0;
  double of_before = 0;
  /// Where at most so many columns are left, panels are the bottleneck: they have other widths then, the first of all and those behind
  /// it, in other steps. Of panels of more than `soon_from` columns, those that are wanted soon are eliminated apart.
  struct Bottleneck {
    std::int64_t left = -1, first = 0, panel = 0, step = 0, soon_from = 0;
    bool operator==(const Bottleneck&) const = default;
  } bottleneck = {};

  bool operator==(const Widths&) const = default;
};

/// What a schedule is asked for.
struct Blocking {
  std::int64_t n = 0;  ///< columns
  Widths widths = {};
  bool arrives = false;  ///< A is not there yet: its columns come from the left to the right
  Lanes lanes = Lanes::one();
  std::int64_t m = -1;  ///< rows; −1: as many as columns
  /// How many panels ahead a left-looking Cholesky brings one up to date: the number of cards.
  std::int64_t ahead = 1;

  std::int64_t rows() const { return m < 0 ? n : m; }
  /// That are factored; U has more where A is wide.
  std::int64_t columns() const { return std::min(rows(), n); }
  Range all() const { return {0, columns()}; }
  /// The panel that begins with column j.
  Range panel_at(std::int64_t j) const;
  /// The step of a panel that begins with column j.
  Range step_at(std::int64_t j, Range panel) const;
  /// Whether panels are the bottleneck when so many columns are left.
  bool panels_bind(std::int64_t left) const { return left <= widths.bottleneck.left; }
  bool operator==(const Blocking&) const = default;
};

/// Throws std::invalid_argument where the schedule is automatic, the method has no such schedule, or sizes make no sense.
Plan plan_of(Method, Schedule, const Blocking&);

/// For each task of a plan those that it must be made to wait for: of other lanes, at most one of each. What comes before it
/// in its own lane needs no wait, nor does what another wait brings.
class Waits {
 public:
  /// In descending order.
  std::span<const std::int32_t> of(std::size_t task) const {
    if (begins_.empty()) return {};
    return {all_.data() + begins_[task], all_.data() + begins_[task + 1]};
  }
  std::size_t count() const { return all_.size(); }
  bool is_awaited(std::size_t task) const { return !awaited_.empty() && awaited_[task]; }

 private:
  friend Waits waits_of(const Plan&);
  std::vector<std::int32_t> all_;
  std::vector<std::size_t> begins_;  // none where nothing waits
  std::vector<bool> awaited_;
};

/// As few as the order of all tasks in conflict needs: with any one of them left out, two of these could run in either order.
/// Costs about (tasks · lanes). Blocks in the memory of two cards have nothing in common.
Waits waits_of(const Plan&);

/// The lanes that have tasks, the highest rank first.
std::vector<Lane> lanes_of(const Plan&);

}  // namespace lasolve
