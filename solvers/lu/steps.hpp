// The words in which a schedule of LU is written. `a` being LuSteps, each line is a task or a few:
//
//     a.arrive(lane, c)          columns c are there
//     a.panel(lane, p)           P [A11; A21] = [L11; L21] U11
//     a.interchange(lane, p, c)  [A12; A22] ← P [A12; A22]; with a Role where c are columns of L
//     a.solve(lane, p, c)        U12 = inv(L11) A12
//     a.update(lane, p, c)       A22 ← A22 − L21 U12
//     a.eliminate(lane, p, c)    the last three
//     a.combine(lane, p)         the interchanges of p become one permutation, for tasks that make all of them at once
//
// p are columns that are factored, one panel or several, and c are others; 1 stands for the rows of p, 2 for those below.
// Where p or c has no columns, no task is appended.
#pragma once

#include <utility>

#include "solvers/lu/tasks.hpp"

namespace lasolve {

class LuSteps {
 public:
  explicit LuSteps(const Blocking& by) : m_(by.rows()), arrives_(by.arrives), combines_(!by.lanes.single()) {}

  void arrive(Lane lane, Range c) {
    if (arrives_ && !c.empty()) tasks_.push_back({.type = &any_task::arrive, .lane = lane, .C = {{0, m_}, c}});
  }

  void panel(Lane lane, Range p) {
    tasks_.push_back(
        {.type = &lu_task::panel, .lane = lane, .C = {{p.begin, m_}, p}, .interchanges = {Resource::pivots, p}});
  }

  void interchange(Lane lane, Range p, Range c, Role role = Role::none) {
    if (p.empty() || c.empty()) return;
    tasks_.push_back({.type = &lu_task::interchange,
                      .lane = lane,
                      .role = role,
                      .C = {{p.begin, m_}, c},
                      .interchanges = {Resource::pivots, p}});
  }

  void solve(Lane lane, Range p, Range c, Role role = Role::none) {
    if (p.empty() || c.empty()) return;
    tasks_.push_back({.type = &lu_task::solve, .lane = lane, .role = role, .C = {p, c}, .L = {p, p}});
  }

  void update(Lane lane, Range p, Range c) { update(lane, p, {p.end, m_}, c); }
  /// Only rows r.
  void update(Lane lane, Range p, Range r, Range c, Role role = Role::none) {
    if (p.empty() || r.empty() || c.empty()) return;
    tasks_.push_back({.type = &lu_task::update, .lane = lane, .role = role, .C = {r, c}, .L = {r, p}, .U = {p, c}});
  }

  void eliminate(Lane lane, Range p, Range c) {
    interchange(lane, p, c, Role::elimination);
    solve(lane, p, c, Role::elimination);
    update(lane, p, {p.end, m_}, c, Role::elimination);
  }

  /// Not with one lane, where interchanges are made as they were found.
  void combine(Lane lane, Range p) {
    if (!combines_ || p.empty()) return;
    tasks_.push_back({.type = &lu_task::combine,
                      .lane = lane,
                      .C = {Resource::permutations, p},
                      .interchanges = {Resource::pivots, p}});
  }

  std::vector<Task> tasks() && { return std::move(tasks_); }

 private:
  std::int64_t m_;  // rows
  bool arrives_, combines_;
  std::vector<Task> tasks_;
};

/// Columns c, in the rows from c.begin on, by halving them down to panels of `leaf` columns. Where A arrives, the first half
/// is there before the second.
void factor_by_halves(LuSteps&, const Lanes&, Range c, std::int64_t leaf);

}  // namespace lasolve
