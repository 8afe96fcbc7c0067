// What a factorization leaves behind, and how it is applied.
#pragma once

#include <optional>

#include "core/fetched.hpp"
#include "lasolve/lasolve.hpp"
#include "solvers/ending.hpp"
#include "solvers/execute.hpp"
#include "solvers/look.hpp"
#include "solvers/schedules.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

/// The plan of a factorization on a device, n × n in block columns of at most nb.
template <class F, class Space>
std::shared_ptr<const OrderedPlan> plan_at(const Queue<Space>& q, Method method, Schedule schedule, std::int64_t n,
                                           std::int64_t nb, bool arrives) {
  const Walk walk{.n = n,
                  .block_size = nb,
                  .least_panel = arrives ? (nb + 7) / 8 : 0,
                  .arrives = arrives,
                  .lanes = lanes_at(q),
                  .tuning = &q.tuning(),
                  .storage = precision_of<F>};
  return ordered_plan(method, schedule, walk, capabilities_of<F>(q, n));
}

/// Has the backend make what the products of a plan would make at their first call, on the queues that they will run on: those
/// with the largest operands and the tallest ones of each lane. Triangular solves and panels contain products that are smaller
/// than they are.
template <class F, class Space>
void prepare_products(Queue<Space>& bulk, const Gemm<F, Space>& gemm, const Plan& plan) {
  struct Product {
    std::int64_t m = 0, n = 0, k = 0;
  };
  const Op b = plan.method == Method::lu ? Op::none : Op::transpose;
  const Gemm<F, Space> beside = gemm.beside();
  const auto gemm_of = [&](Lane lane) { return plan.lanes.leaves_room(lane) ? &beside : &gemm; };
  for (const Lane lane : lanes_of(plan)) {
    Product largest, tallest;
    for (const Task& task : plan.tasks) {
      if (task.lane != lane || task.flops == 0) continue;
      const Product product{task.C.m, task.C.n, task.kind == TaskKind::panel ? task.C.n : task.L.n};
      if (product.k == 0) continue;
      if ((product.m + product.n) * product.k > (largest.m + largest.n) * largest.k) largest = product;
      if (product.m > tallest.m) tallest = product;
    }
    for (const auto& [m, n, k] : {largest, tallest})
      if (m > 0) gemm_of(lane)->prepare(queue_of(bulk, lane), Op::none, b, m, n, k);
  }
}

/// Makes before the clock runs what the factorization that Factors::factor will run takes of its queues, and its products.
template <class F, class Space>
void prepare_factorization(Queue<Space>& q, const Gemm<F, Space>& gemm, Method method, Schedule schedule,
                           std::int64_t n, std::int64_t nb, bool arrives) {
  if (lanes_at(q).single() && !gemm.prepares()) return;  // a device of one queue has nothing to make
  const auto plan = plan_at<F>(q, method, schedule, n, nb, arrives);
  prepare<F>(q, plan->plan);
  if (gemm.prepares()) prepare_products(q, gemm, plan->plan);
}

/// P A = L U or A = L Lᵀ in the precision F, in memory of its own.
template <class F, class Space>
class Factors {
 public:
  /// Takes the memory of A, which factor() will factor in place. With an exponent it holds 2^−exponent A.
  Factors(Method method, Matrix<F, Space>&& A, int exponent = 0)
      : method_(method),
        exponent_(exponent),
        notes_(method == Method::lu ? std::max<std::int64_t>(1, A.rows()) : 1, Pivots<Space>::columns + 1),
        values_(std::move(A)) {}

  /// To be called before factor(), unless A comes later: copies A, whose memory may be that of the factors.
  template <class T>
  void take(Queue<Space>& q, MatrixView<const T, Space> A) {
    has_begun_ = static_cast<const void*>(A.data()) != values_.data();
    if (has_begun_) copy_to_factor(q, A, values_.view(), status());
    if (exponent_ != 0) scale<F>(q, -exponent_, values_.view(), values_.view());
  }
  /// The same before factor() of a Cholesky, which leaves A as it is where it may not be positive definite.
  template <class T>
  Fetched<Look> take_on_trial(Queue<Space>& q, MatrixView<const T, Space> A) {
    has_begun_ = on_trial_ = true;
    return copy_and_look(q, A, values_.view(), status());
  }

  /// Gives q the factorization, in place. With a supply, which is for left-looking alone, A is not there yet: it is asked for, a
  /// block column after the other. A clock times the tasks.
  void factor(Queue<Space>& q, const Gemm<F, Space>& gemm, Schedule schedule, std::int64_t nb,
              const Supply<F, Space>& supply = {}, TaskClock<Space>* clock = nullptr) {
    if (!has_begun_) fill(q, std::int64_t(-1), status());
    const auto plan = plan_at<F>(q, method_, schedule, values_.rows(), nb, bool(supply));
    buffers_.emplace(plan->plan);
    execute(*plan, q, Workpiece<F, Space>{gemm, values_.view(), pivots(), supply, *buffers_, on_trial_}, clock);
    q.phase(Phase::other);
  }

  /// How it ended.
  Fetched<Ending> ending(Queue<Space>& q) { return ending_of<F>(q, values(), status()); }
  /// The same as an outcome, which is waited for.
  Outcome outcome(Queue<Space>& q) { return outcome_of(*ending(q)); }
  Outcome outcome_of(const Ending& ending, bool of_rows = false) const {
    if (ending.failed_at < 0) return {Outcome::solved, 0, of_rows};
    return {method_ == Method::lu ? Outcome::singular : Outcome::not_positive_definite, ending.failed_at, of_rows};
  }
  /// The least and the largest magnitude of a pivot, of which Cholesky keeps the square roots.
  std::pair<double, double> pivots_of(const Ending& ending) const {
    const auto [at, least, most] = ending;
    return method_ == Method::lu ? std::pair(least, most) : std::pair(least * least, most * most);
  }

  /// X ← op(A)⁻¹ B. X may be B. X: n × nrhs. Flops 2 n² nrhs.
  void apply(Queue<Space>& q, const Gemm<F, Space>& gemm, std::type_identity_t<MatrixView<const F, Space>> B,
             MatrixView<F, Space> X, Op op) {
    const std::int64_t nrhs = X.cols(), at_once = sides_at_once(q, X.rows(), nrhs);
    for (std::int64_t j = 0; j < nrhs; j += at_once) {
      const std::int64_t some = std::min(at_once, nrhs - j);
      apply_to_some(q, gemm, B.columns(j, some), X.columns(j, some), op);
    }
    if (exponent_ != 0) scale<F>(q, -exponent_, X, X);
  }

  /// Where it failed: Outcome::at, or −1.
  const std::int64_t* failed_at() const { return notes_.data() + (notes_.cols() - 1) * notes_.ld(); }
  Method method() const { return method_; }
  MatrixView<const F, Space> values() const { return values_; }
  /// The memory that is factored, until it is.
  MatrixView<F, Space> whole() { return values_; }
  /// Cholesky has none.
  Pivots<Space> pivots() {
    const std::int64_t n = method_ == Method::lu ? values_.rows() : 0;
    return Pivots<Space>::in(notes_.view().block(0, 0, n, Pivots<Space>::columns), status());
  }

 private:
  void apply_to_some(Queue<Space>& q, const Gemm<F, Space>& gemm, MatrixView<const F, Space> B, MatrixView<F, Space> X,
                     Op op) {
    const auto A = values_.view();
    const auto first = [&](Triangle<F, Space> tri, const Pivots<Space>* P) { trsm_left(q, gemm, tri, B, P, X); };
    const auto second = [&](Triangle<F, Space> tri) {
      tri.ready = true;
      trsm_left(q, gemm, tri, X);
    };
    if (method_ == Method::cholesky) {
      first(lower(A), nullptr);       // L Y = B
      second(lower(A).transposed());  // Lᵀ X = Y
    } else if (op == Op::none) {
      const Pivots<Space> P = pivots();
      first(lower_unit(A), &P);  // L Y = P B
      second(upper(A));          // U X = Y
    } else {
      first(upper(A).transposed(), nullptr);     // Uᵀ Z = B
      second(lower_unit(A).transposed());        // Lᵀ Y = Z
      permute_rows<F>(q, X, X, pivots(), true);  // X = Pᵀ Y
    }
  }
  MatrixView<std::int64_t, Space> status() { return notes_.view().block(0, notes_.cols() - 1, 1, 1); }

  Method method_;
  int exponent_;
  bool has_begun_ = false, on_trial_ = false;
  Matrix<std::int64_t, Space> notes_;  // the pivots of LU, and in the last column where it failed
  Matrix<F, Space> values_;
  std::optional<Buffers<F, Space>> buffers_;
};

}  // namespace lasolve
