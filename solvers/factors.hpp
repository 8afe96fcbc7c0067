// What a factorization leaves behind, and how it is applied.
#pragma once

#include <optional>

#include "core/fetched.hpp"
#include "lasolve/lasolve.hpp"
#include "solvers/ending.hpp"
#include "solvers/execute.hpp"
#include "solvers/look.hpp"
#include "solvers/recipe.hpp"

namespace lasolve {

/// The plan of a factorization of n × n on a device.
template <class F, class Space>
std::shared_ptr<const OrderedPlan> plan_on(const Queue<Space>& q, const Recipe& by, std::int64_t n) {
  const Blocking blocking{.n = n, .widths = by.widths, .arrives = by.as_it_comes, .lanes = lanes_at(q)};
  return ordered_plan(by.method, by.schedule, blocking, capabilities_of<F>(q, n));
}

/// Has the backend make what the products of a plan would make at their first call, on the queues that they will run on: those
/// with the largest operands and the tallest ones of each lane. Triangular solves and panels contain products that are smaller
/// than they are.
template <class F, class Space>
void prepare_products(Queue<Space>& bulk, const Gemm<F, Space>& gemm, const Plan& plan) {
  struct Product {
    std::int64_t m = 0, n = 0, k = 0;
  };
  const Op b = record_of(plan.method).op_of_U;
  const Gemm<F, Space> beside = gemm.beside();
  const auto gemm_of = [&](Lane lane) { return plan.lanes.leaves_room(lane) ? &beside : &gemm; };
  for (const Lane lane : lanes_of(plan)) {
    Product largest, tallest;
    for (const Task& task : plan.tasks) {
      if (task.lane != lane || task.flops == 0) continue;
      const Product product{task.C.m, task.C.n, task.type->picture == TaskType::panel ? task.C.n : task.L.n};
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
void prepare_factorization(Queue<Space>& q, const Gemm<F, Space>& gemm, const Recipe& by, std::int64_t n) {
  if (lanes_at(q).single() && !gemm.prepares()) return;  // a device of one queue has nothing to make
  const auto plan = plan_on<F>(q, by, n);
  prepare<F>(q, plan->plan);
  if (gemm.prepares()) prepare_products(q, gemm, plan->plan);
}

/// Of a matrix, by a method, in the precision F, in memory of their own.
template <class F, class Space>
class Factors {
 public:
  /// Takes the memory of A, which factor() will factor in place. With an exponent it holds 2^−exponent A.
  Factors(Method method, Matrix<F, Space>&& A, int exponent = 0)
      : method_(record_of(method)),
        exponent_(exponent),
        notes_(std::max<std::int64_t>(1, method_.has_pivots ? A.rows() : 0), Pivots<Space>::columns + 1),
        values_(std::move(A)) {}

  /// To be called before factor(), unless A comes later: copies A, whose memory may be that of the factors.
  template <class T>
  void take(Queue<Space>& q, MatrixView<const T, Space> A) {
    has_begun_ = static_cast<const void*>(A.data()) != values_.data();
    if (has_begun_) copy_to_factor(q, A, values_.view(), status());
    if (exponent_ != 0) scale<F>(q, -exponent_, values_.view(), values_.view());
  }
  /// The same before a factor() that leaves A as it is where it may not be positive definite.
  template <class T>
  Fetched<Look> take_on_trial(Queue<Space>& q, MatrixView<const T, Space> A) {
    has_begun_ = on_trial_ = true;
    return copy_and_look(q, A, values_.view(), status());
  }

  /// Gives q the factorization, in place. With a supply A is not there yet, and the recipe says so: it is asked for, a block column after
  /// the other. A clock times the tasks.
  void factor(Queue<Space>& q, const Gemm<F, Space>& gemm, const Recipe& by, const Supply<F, Space>& supply = {},
              TaskClock<Space>* clock = nullptr) {
    if (!has_begun_) fill(q, std::int64_t(-1), status());
    const auto plan = plan_on<F>(q, by, values_.rows());
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
    return {method_.failure, ending.failed_at, of_rows};
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
  const MethodRecord& method() const { return method_; }
  MatrixView<const F, Space> values() const { return values_; }
  /// The memory that is factored, until it is.
  MatrixView<F, Space> whole() { return values_; }
  /// None where the method interchanges no rows.
  Pivots<Space> pivots() {
    const std::int64_t n = method_.has_pivots ? values_.rows() : 0;
    return Pivots<Space>::in(notes_.view().block(0, 0, n, Pivots<Space>::columns), status());
  }

 private:
  void apply_to_some(Queue<Space>& q, const Gemm<F, Space>& gemm, MatrixView<const F, Space> B, MatrixView<F, Space> X,
                     Op op) {
    with_method(method_.method, [&](auto M) { M.template apply<F>(q, gemm, values_.view(), pivots(), B, X, op); });
  }
  MatrixView<std::int64_t, Space> status() { return notes_.view().block(0, notes_.cols() - 1, 1, 1); }

  const MethodRecord& method_;
  int exponent_;
  bool has_begun_ = false, on_trial_ = false;
  Matrix<std::int64_t, Space> notes_;  // the pivots, and in the last column where it failed
  Matrix<F, Space> values_;
  std::optional<Buffers<F, Space>> buffers_;
};

}  // namespace lasolve
