// The words in which a schedule of Cholesky is written. `a` being CholeskySteps, each line is a task:
//
//     a.arrive(lane, c)           columns c are there
//     a.panel(lane, p)            [A11; A21] = [L11; L21] L11ᵀ
//     a.diagonal(lane, p)         A11 = L11 L11ᵀ
//     a.solve(lane, p, r)         L21 = A21 inv(L11)ᵀ, in rows r
//     a.update(lane, p, c)        A22 ← A22 − L21 Lcᵀ, of columns c what is on and below the diagonal
//     a.update_lower(lane, p, c)  the same for c that end with the last row of interest: a symmetric rank-k update
//     a.stop_if_failed(lane)      the rest may be left out if a minor was not positive
//
// p are columns that are factored, one panel or several, and c and r others behind them. Where one of them is empty, no task is
// appended.
#pragma once

#include <utility>

#include "solvers/cholesky/tasks.hpp"

namespace lasolve {

class CholeskySteps {
 public:
  explicit CholeskySteps(const Blocking& by) : n_(by.n), arrives_(by.arrives) {
    require(by.rows() == by.n, "a symmetric matrix is square");
  }

  void arrive(Lane lane, Range c) {
    if (arrives_ && !c.empty()) tasks_.push_back({.type = &any_task::arrive, .lane = lane, .C = {{0, n_}, c}});
  }
  void panel(Lane lane, Range p) { factor(lane, p, n_); }
  void diagonal(Lane lane, Range p) { factor(lane, p, p.end); }

  void solve(Lane lane, Range p, Range r) {
    if (p.empty() || r.empty()) return;
    tasks_.push_back({.type = &cholesky_task::solve, .lane = lane, .C = {r, p}, .L = {p, p}});
  }

  void update(Lane lane, Range p, Range c) {
    if (p.empty() || c.empty()) return;
    tasks_.push_back(
        {.type = &cholesky_task::update, .lane = lane, .C = {{c.begin, n_}, c}, .L = {{c.begin, n_}, p}, .U = {c, p}});
  }

  void update_lower(Lane lane, Range p, Range c) {
    if (p.empty() || c.empty()) return;
    tasks_.push_back({.type = &cholesky_task::update_lower, .lane = lane, .C = {c, c}, .L = {c, p}});
  }

  void stop_if_failed(Lane lane) { tasks_.push_back({.type = &any_task::stop_if_failed, .lane = lane}); }

  std::vector<Task> tasks() && { return std::move(tasks_); }

 private:
  void factor(Lane lane, Range p, std::int64_t end) {
    tasks_.push_back({.type = &cholesky_task::panel, .lane = lane, .C = {{p.begin, end}, p}});
  }

  std::int64_t n_;
  bool arrives_;
  std::vector<Task> tasks_;
};

}  // namespace lasolve
