// What tests of plans share: the order that waits keep, and a reference that does what tasks say.
#pragma once

#include <gtest/gtest.h>

#include <bitset>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <vector>

#include "lasolve/names.hpp"
#include "matrices.hpp"
#include "solvers/method.hpp"

namespace lasolve::test {

inline bool is(const Task& task, std::string_view name) { return task.type->name == name; }

/// All but automatic.
template <class Enum>
std::vector<Enum> all_of() {
  std::vector<Enum> all;
  for (const auto& name : Names<Enum>::all)
    if (name.value != Enum::automatic) all.push_back(name.value);
  return all;
}
inline std::vector<Schedule> all_schedules() { return all_of<Schedule>(); }

/// What a schedule is asked for on a device with this tuning, in panels of at most so many columns.
inline Blocking blocking_for(Method method, Schedule schedule, std::int64_t n, std::int64_t columns,
                             const Tuning& tuning, Precision storage = Precision::fp64, int cards = 1) {
  const Sized of{.schedule = schedule, .storage = storage, .n = n, .columns = columns, .queues = true, .cards = cards};
  return {.n = n, .widths = record_of(method).widths(tuning, of), .lanes = four_lanes};
}

constexpr std::size_t most_tasks = 2048;
using Set = std::bitset<most_tasks>;
using WaitLists = std::vector<std::vector<std::size_t>>;

inline WaitLists lists_of(const Plan& plan) {
  const Waits waits = waits_of(plan);
  WaitLists lists(plan.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) lists[i].assign(waits.of(i).begin(), waits.of(i).end());
  return lists;
}

/// Bit k of element i: task i comes after task k, because of the waits and of the order within each lane.
inline std::vector<Set> order_by(const Plan& plan, const WaitLists& waits) {
  std::vector<Set> before(plan.tasks.size());
  std::map<Lane, std::size_t> last;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const auto comes_after = [&](std::size_t k) { before[i] |= before[k], before[i].set(k); };
    for (const std::size_t k : waits[i]) comes_after(k);
    if (const auto k = last.find(plan.tasks[i].lane); k != last.end()) comes_after(k->second);
    last[plan.tasks[i].lane] = i;
  }
  return before;
}

/// Those before each task that are in conflict with it. Found element by element of its blocks' bounds, not by overlap().
inline std::vector<Set> conflicts_in(const Plan& plan) {
  const auto touches = [](const BlockList& a, const BlockList& b) {
    for (const Block& x : a)
      for (const Block& y : b)
        if (x.of == y.of && x.card == y.card && std::max(x.i, y.i) < std::min(x.i + x.m, y.i + y.m) &&
            std::max(x.j, y.j) < std::min(x.j + x.n, y.j + y.n))
          return true;
    return false;
  };
  std::vector<Set> conflicts(plan.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const BlockList r1 = reads_of(plan.tasks[k]), w1 = writes_of(plan.tasks[k]), r2 = reads_of(plan.tasks[i]),
                      w2 = writes_of(plan.tasks[i]);
      conflicts[i][k] = touches(w1, r2) || touches(w1, w2) || touches(r1, w2);
    }
  return conflicts;
}

/// Whether each task comes after all those that it is in conflict with; `first` is looked at first.
inline bool keeps_order(const std::vector<Set>& conflicts, const std::vector<Set>& before, std::size_t first = 0) {
  for (std::size_t j = 0; j < conflicts.size(); ++j) {
    const std::size_t i = (first + j) % conflicts.size();
    if ((conflicts[i] & ~before[i]).any()) return false;
  }
  return true;
}

/// Three times its flops, which are thirds of whole numbers.
inline std::int64_t thirds(double flops) { return std::llround(3 * flops); }

/// Does what tasks say, in the plainest way.
class Reference {
 public:
  Reference(const Matrix<double>& A, const Plan& plan)
      : source_(A),
        method_(plan.method),
        A_(A.rows(), A.cols()),
        pivots_(std::size_t(std::min(A.rows(), A.cols())), 0),
        combined_(pivots_),
        order_(rows_in_order(A.rows())),
        later_(std::size_t(A.rows()), 0) {
    const bool arrives =
        std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const Task& task) { return is(task, "arrive"); });
    for (std::int64_t j = 0; j < A.cols(); ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i)
        A_(i, j) = arrives ? std::numeric_limits<double>::quiet_NaN() : A(i, j);
  }

  void run(const Task& task) {
    const bool is_lu = method_ != Method::cholesky;
    const auto does = [&](const char* name) { return is(task, name); };
    if (does("arrive")) return copy(task.C);
    if (does("panel")) return is_lu ? panel_of_lu(task.C) : panel_of_cholesky(task.C);
    if (does("interchange")) {
      if (task.interchanges.of == Resource::later) return interchange_later(task);
      return interchange(task.interchanges.rows(), task.C.columns(),
                         task.interchanges.of == Resource::permutations ? combined_ : pivots_);
    }
    if (does("solve")) return is_lu ? solve_left(task.L, task.C) : solve_right(task.L, task.C);
    if (does("update") || does("update_lower"))
      return is_lu ? subtract(task.L, task.U, task.C) : subtract_transposed(task.L, task.L, task.C);
    if (does("narrow_update") || does("product")) return subtract_transposed(task.L, task.U, task.C);
    if (does("panel_in_place")) {
      panel_of_lu(task.C);
      return interchange_back(task.interchanges.rows(), task.C.columns());
    }
    if (does("lookahead_update")) return lookahead_update(task);
    if (does("combine"))
      for (std::int64_t k = task.C.i; k < task.C.i + task.C.m; ++k)
        combined_[std::size_t(k)] = pivots_[std::size_t(k)],
        std::swap(order_[std::size_t(k)], order_[std::size_t(pivots_[std::size_t(k)])]);
    else if (does("begin_later"))
      for (std::int64_t i = task.C.i; i < task.C.i + task.C.m; ++i) later_[std::size_t(i)] = double(i);
    else if (does("prepend"))  // row i, which goes to place k first, goes where what is in place k goes
      for (std::int64_t k = task.interchanges.i + task.interchanges.m; k-- > task.interchanges.i;)
        std::swap(later_[std::size_t(k)], later_[std::size_t(combined_[std::size_t(k)])]);
    else if (!does("stop_if_failed"))
      ADD_FAILURE() << "the reference does not know the task " << task.type->name;
  }

  /// L and U, or the lower triangle; and the pivots.
  std::vector<double> values() const {
    std::vector<double> all(pivots_.begin(), pivots_.end());
    for (std::int64_t j = 0; j < A_.cols(); ++j)
      for (std::int64_t i = method_ == Method::cholesky ? j : 0; i < A_.rows(); ++i) all.push_back(A_(i, j));
    return all;
  }
  const Matrix<double>& factors() const { return A_; }
  const std::vector<double>& pivots() const { return pivots_; }
  /// What a send brings.
  void take(const Task& send, const Reference& from) {
    for (std::int64_t j = send.C.j; j < send.C.j + send.C.n; ++j)
      for (std::int64_t i = send.C.i; i < send.C.i + send.C.m; ++i) A_(i, j) = from.A_(i, j);
    const Block& p = send.interchanges;
    std::copy_n(from.pivots_.begin() + p.i, p.m, pivots_.begin() + p.i);
  }
  /// Which row of A has come to each place, by what was combined; and by the pivots.
  const std::vector<double>& order() const { return order_; }
  std::vector<double> order_of_pivots() const {
    std::vector<double> rows = rows_in_order(A_.rows());
    for (std::size_t k = 0; k < pivots_.size(); ++k) std::swap(rows[k], rows[std::size_t(pivots_[k])]);
    return rows;
  }

 private:
  static std::vector<double> rows_in_order(std::int64_t n) {
    std::vector<double> rows(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), 0.0);
    return rows;
  }
  void copy(const Block& C) {
    for (std::int64_t j = C.j; j < C.j + C.n; ++j)
      for (std::int64_t i = C.i; i < C.i + C.m; ++i) A_(i, j) = source_(i, j);
  }
  void interchange(Range steps, Range columns, const std::vector<double>& by) {
    for (std::int64_t k = steps.begin; k < steps.end; ++k)
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        std::swap(A_(k, j), A_(std::int64_t(by[std::size_t(k)]), j));
  }
  void interchange_back(Range steps, Range columns) {
    for (std::int64_t k = steps.end - 1; k >= steps.begin; --k)
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        std::swap(A_(k, j), A_(std::int64_t(pivots_[std::size_t(k)]), j));
  }
  /// Row i goes to place later_[i].
  void interchange_later(const Task& task) {
    const Block& C = task.C;
    for (std::int64_t j = C.j; j < C.j + C.n; ++j) {
      std::vector<double> column(std::size_t(C.m));
      for (std::int64_t i = C.i; i < C.i + C.m; ++i)
        column[std::size_t(std::int64_t(later_[std::size_t(i)]) - C.i)] = A_(i, j);
      for (std::int64_t i = 0; i < C.m; ++i) A_(C.i + i, j) = column[std::size_t(i)];
    }
  }
  /// With the rows of L where they were found: row i of the interchanged L is row place[i].
  void lookahead_update(const Task& task) {
    const Block &L = task.L, &C = task.C;
    std::vector<std::int64_t> place(std::size_t(L.m));
    for (std::int64_t i = 0; i < L.m; ++i) place[std::size_t(i)] = L.i + i;
    for (std::int64_t k = 0; k < L.n; ++k)
      std::swap(place[std::size_t(k)], place[std::size_t(std::int64_t(pivots_[std::size_t(L.i + k)]) - L.i)]);
    interchange(task.interchanges.rows(), C.columns(), pivots_);
    for (std::int64_t j = C.j; j < C.j + C.n; ++j) {
      for (std::int64_t k = 0; k < L.n; ++k)
        for (std::int64_t i = k + 1; i < L.n; ++i)
          A_(C.i + i, j) -= A_(place[std::size_t(i)], L.j + k) * A_(C.i + k, j);
      for (std::int64_t i = L.n; i < L.m; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < L.n; ++k) sum += A_(place[std::size_t(i)], L.j + k) * A_(C.i + k, j);
        A_(C.i + i, j) -= sum;
      }
    }
  }
  void panel_of_lu(const Block& C) {
    const std::int64_t end = C.j + C.n;
    for (std::int64_t k = C.j; k < end; ++k) {
      std::int64_t p = k;
      for (std::int64_t i = k + 1; i < C.i + C.m && method_ == Method::lu; ++i)
        if (std::abs(A_(i, k)) > std::abs(A_(p, k))) p = i;
      pivots_[std::size_t(k)] = double(p);
      interchange({k, k + 1}, C.columns(), pivots_);
      for (std::int64_t i = k + 1; i < C.i + C.m; ++i) {
        A_(i, k) /= A_(k, k);
        for (std::int64_t j = k + 1; j < end; ++j) A_(i, j) -= A_(i, k) * A_(k, j);
      }
    }
  }
  void panel_of_cholesky(const Block& C) {
    const std::int64_t end = C.j + C.n;
    for (std::int64_t k = C.j; k < end; ++k) {
      A_(k, k) = std::sqrt(A_(k, k));
      for (std::int64_t i = k + 1; i < C.i + C.m; ++i) A_(i, k) /= A_(k, k);
      for (std::int64_t j = k + 1; j < end; ++j)
        for (std::int64_t i = j; i < C.i + C.m; ++i) A_(i, j) -= A_(i, k) * A_(j, k);
    }
  }
  void solve_left(const Block& L, const Block& C) {
    for (std::int64_t j = C.j; j < C.j + C.n; ++j)
      for (std::int64_t k = 0; k < L.n; ++k)
        for (std::int64_t i = k + 1; i < L.m; ++i) A_(C.i + i, j) -= A_(L.i + i, L.j + k) * A_(C.i + k, j);
  }
  void solve_right(const Block& L, const Block& C) {
    for (std::int64_t i = C.i; i < C.i + C.m; ++i)
      for (std::int64_t k = 0; k < L.n; ++k) {
        A_(i, C.j + k) /= A_(L.i + k, L.j + k);
        for (std::int64_t j = k + 1; j < L.n; ++j) A_(i, C.j + j) -= A_(i, C.j + k) * A_(L.i + j, L.j + k);
      }
  }
  void subtract(const Block& L, const Block& U, const Block& C) {
    for (std::int64_t j = 0; j < C.n; ++j)
      for (std::int64_t i = 0; i < C.m; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < L.n; ++k) sum += A_(L.i + i, L.j + k) * A_(U.i + k, U.j + j);
        A_(C.i + i, C.j + j) -= sum;
      }
  }
  /// C ← C − L Uᵀ, of a C that is on the diagonal what is on and below it; U may have more rows than C has columns.
  void subtract_transposed(const Block& L, const Block& U, const Block& C) {
    for (std::int64_t j = 0; j < C.n; ++j)
      for (std::int64_t i = C.i == C.j ? j : 0; i < C.m; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < L.n; ++k) sum += A_(L.i + i, L.j + k) * A_(U.i + j, U.j + k);
        A_(C.i + i, C.j + j) -= sum;
      }
  }

  const Matrix<double>& source_;
  const Method method_;
  Matrix<double> A_;
  std::vector<double> pivots_, combined_, order_, later_;
};

/// For LU any, for Cholesky one that is positive definite, and without interchanges one that is dominant.
inline Matrix<double> matrix_for(const Plan& plan) {
  const std::int64_t n = plan.n;
  if (plan.method != Method::cholesky) {
    Matrix<double> A = random_matrix(plan.m, n, 7);
    for (std::int64_t i = 0; i < std::min(plan.m, n) && plan.method == Method::lu_nopivot; ++i) A(i, i) += double(n);
    return A;
  }
  Random random(7);
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) A(i, j) = A(j, i) = i == j ? 2.0 * double(n) : random();
  return A;
}

/// Three times the flops of a factorization by the textbook: of LU of m × n, 2 m n k − (m + n) k² + 2/3 k³ with k = min(m, n).
inline std::int64_t thirds_of_textbook(const Plan& plan) {
  const std::int64_t m = plan.m, n = plan.n, k = std::min(m, n);
  return plan.method == Method::cholesky ? n * n * n : 6 * m * n * k - 3 * (m + n) * k * k + 2 * k * k * k;
}

inline std::vector<double> in_program_order(const Plan& plan, const Matrix<double>& A) {
  Reference reference(A, plan);
  for (const Task& task : plan.tasks) reference.run(task);
  return reference.values();
}

/// At each point a random one of the lanes goes on whose next task has nothing left to wait for.
inline std::vector<double> in_random_order(const Plan& plan, const WaitLists& waits, const Matrix<double>& A,
                                           std::mt19937_64& bits) {
  std::map<Lane, std::queue<std::size_t>> lines;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) lines[plan.tasks[i].lane].push(i);
  std::vector<bool> done(plan.tasks.size());
  Reference reference(A, plan);
  for (std::size_t count = 0; count < plan.tasks.size(); ++count) {
    std::vector<std::queue<std::size_t>*> ready;
    for (auto& [lane, line] : lines)
      if (!line.empty() &&
          std::all_of(waits[line.front()].begin(), waits[line.front()].end(), [&](std::size_t k) { return done[k]; }))
        ready.push_back(&line);
    if (ready.empty()) {
      ADD_FAILURE() << "all lanes wait";
      break;
    }
    auto& line = *ready[bits() % ready.size()];
    reference.run(plan.tasks[line.front()]);
    done[line.front()] = true;
    line.pop();
  }
  return reference.values();
}

/// Compares bits: NaN is no excuse.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace lasolve::test
