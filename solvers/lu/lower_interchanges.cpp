#include "solvers/lu/planning.hpp"

#include <algorithm>
#include <span>

#include "solvers/lu/tasks.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// The columns of L in each group lack the interchanges of all groups behind it, and get them here. From the last group to the first:
/// the later interchanges then only have to be extended by those of one group at a time.
void interchange_rows_of_L(Tasks& to, const Plan& plan, const std::vector<Range>& groups) {
  if (groups.size() < 2) return;
  const auto later = [&](std::int64_t from) { return Block(Resource::later, {from, plan.m}); };
  const Task task{.type = &lu_task::begin_later, .lane = plan.lanes.bulk, .C = later(0)};
  to.push_back(task);
  for (std::size_t g = groups.size() - 1; g > 0; --g) {
    const Range panels = groups[g];
    to.push_back(task);
    to.back().type = &lu_task::prepend;
    to.back().C = later(panels.begin);
    to.back().interchanges = {Resource::permutations, panels};
    to.push_back(task);
    to.back().type = &lu_task::interchange;
    to.back().C = {{panels.begin, plan.m}, groups[g - 1]};
    to.back().interchanges = later(panels.begin);
  }
}

/// Interchanges that one kernel makes: those of a panel, or some that were combined.
struct Permuted {
  Range rows;
  bool combined;
};

/// What kernels make the interchanges of `rows`.
std::span<const Permuted> within(const std::vector<Permuted>& all, Range rows) {
  const auto at = [&](std::int64_t row) {
    return std::lower_bound(all.begin(), all.end(), row,
                            [](const Permuted& p, std::int64_t i) { return p.rows.begin < i; });
  };
  return {at(rows.begin), at(rows.end)};
}

/// Which of them are combined with each other: neighbours, as long as they have at most so many rows together.
std::vector<Range> joined(std::span<const Permuted> parts, std::int64_t most) {
  std::vector<Range> ranges;
  for (const Permuted& part : parts)
    if (ranges.empty() || part.rows.end - ranges.back().begin > most)
      ranges.push_back(part.rows);
    else
      ranges.back().end = part.rows.end;
  return ranges;
}

}  // namespace

Task combination_of(Range rows, Lane lane) {
  return {.type = &lu_task::combine,
          .lane = lane,
          .C = {Resource::permutations, rows},
          .interchanges = {Resource::pivots, rows}};
}

bool rows_of_L_can_wait(const Plan& plan) {
  std::int64_t least = plan.n;  // the first column of A that a later task touches, interchanges of such rows apart
  bool have_some = false;
  for (std::size_t i = plan.tasks.size(); i-- > 0;) {
    const Task& task = plan.tasks[i];
    if (task.role == Role::L_to_the_left) {
      if (least < task.C.j + task.C.n) return false;
      have_some = true;
      continue;
    }
    for (const BlockList& blocks : {reads_of(task), writes_of(task)})
      for (const Block& b : blocks)
        if (b.of == Resource::matrix) least = std::min(least, b.j);
  }
  return have_some;
}

std::vector<Task> with_rows_of_L_at_the_end(const Plan& plan) {
  const auto leaves_nothing_to_the_bulk = [&](Range panel) {  // `soon` eliminates in all columns behind it
    return std::any_of(plan.tasks.begin(), plan.tasks.end(), [&](const Task& task) {
      return task.is(lu_task::interchange) && task.role == Role::elimination && task.lane == plan.lanes.soon &&
             task.interchanges.rows() == panel && task.C.columns().end == plan.n;
    });
  };
  Tasks lowered;
  std::vector<Range> groups;  // columns of L that have seen the same interchanges
  for (const Task& task : plan.tasks) {
    if (task.role != Role::L_to_the_left) {
      lowered.push_back(task);
      continue;
    }
    const Range panel = task.interchanges.rows();
    groups.push_back({groups.empty() ? 0 : groups.back().end, panel.begin});
    if (leaves_nothing_to_the_bulk(panel)) {
      interchange_rows_of_L(lowered, plan, groups);
      groups = {{0, panel.begin}};
    }
  }
  if (groups.empty()) return lowered;
  groups.push_back({groups.back().end, std::min(plan.m, plan.n)});
  interchange_rows_of_L(lowered, plan, groups);
  return lowered;
}

std::vector<Task> with_interchanges_of_one_kernel(const Plan& plan, std::int64_t most_combined) {
  Tasks lowered;
  std::vector<Permuted> all;  // so far, in ascending order
  for (const Task& task : plan.tasks) {
    const Range rows = task.interchanges.rows();
    if (task.is(lu_task::panel) || task.is(lu_task::panel_in_place)) all.push_back({rows, false});
    const bool of_pivots = task.interchanges.of == Resource::pivots;
    if (task.is(lu_task::combine)) {
      const auto parts = within(all, rows);
      const std::size_t first = std::size_t(parts.data() - all.data()), count = parts.size();
      std::vector<Permuted> now;
      for (const Range range : joined(parts, most_combined)) {
        now.push_back({range, true});
        lowered.push_back(combination_of(range, task.lane));
        lowered.back().timed = task.timed;
      }
      all.erase(all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(first + count));
      all.insert(all.begin() + std::ptrdiff_t(first), now.begin(), now.end());
    } else if (task.is(lu_task::interchange) && of_pivots) {
      for (const Permuted& part : within(all, rows)) {
        lowered.push_back(task);
        lowered.back().C = {{part.rows.begin, task.C.i + task.C.m}, task.C.columns()};
        lowered.back().interchanges = {part.combined ? Resource::permutations : Resource::pivots, part.rows};
      }
    } else if (task.is(lu_task::prepend)) {
      const auto parts = within(all, rows);
      for (std::size_t k = parts.size(); k-- > 0;) {
        lowered.push_back(task);
        lowered.back().C = {Resource::later, {parts[k].rows.begin, plan.m}};
        lowered.back().interchanges = {Resource::permutations, parts[k].rows};
      }
    } else {
      lowered.push_back(task);
    }
  }
  return lowered;
}

}  // namespace lasolve
