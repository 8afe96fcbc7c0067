// Factors and solutions in the order of a stream of the caller's, with calls that return before the work is done.
#pragma once

#include <limits>

#include "core/cuda/elementwise.cuh"
#include "core/memory_kind.hpp"
#include "core/named_range.hpp"
#include "core/traffic.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/devices/cuda/by_columns.cuh"
#include "solvers/devices/cuda/call.hpp"
#include "solvers/lu/cuda/row_interchanges.cuh"

namespace lasolve {

/// Throws std::invalid_argument for a recipe whose executor has to know what came out.
template <class T>
const Recipe& require_decided(const Recipe& by) {
  require(!by.refines(),
          "a factorization that nobody waits for cannot refine, which ends by the residual: the options have to ask "
          "for none");
  require(!by.asks_dominance,
          "a factorization that nobody waits for cannot look whether A is diagonally dominant: the options have to "
          "assume it");
  require(!has_narrow_range(by.precision),
          "a factorization that nobody waits for cannot look how large A is, which fp16 needs: the options "
          "have to ask for another precision");
  require(
      by.precision.storage == precision_of<T>,
      "a factorization that nobody waits for stores factors in the type of A: the options ask for another precision");
  return by;
}

/// Nothing here waits for the device, or asks it anything, but for wait(). All is done in a context with a stream.
template <class T>
class CudaAsync final : public AsyncEngine<T> {
 public:
  /// In a call on the context, after the caller's stream. By a recipe of require_decided().
  CudaAsync(SharedContext its, const Tuning& tuning, const Recipe& by, Given<T, Cuda> A, const GemmBackend<Cuda>& gemm,
            Uplo triangle)
      : its_(std::move(its)),
        tuning_(tuning),
        by_(by),
        factors_(gemm, by_.precision.products, by_.method, memory_of(A)) {
    const NamedRange<Cuda> range("lasolve factor_async");
    Queue<Cuda>& q = *its_->q;
    const Settled settled(q);
    A.factored ? take_interchanges(q, *A.factored) : factor(q, A, triangle);
    end_call(*its_);
  }

  void solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op) override {
    const SharedContext its = where_captured(its_);
    Queue<Cuda>& q = *its->q;
    require_on_device("B", Ends(B.view), q.device());
    require_on_device("X", Ends(X.view), q.device());
    if (B.view.empty()) return;
    const NamedRange<Cuda> range("lasolve solve_async");
    const Call call(*its, tuning_);
    wait_for_caller(*its, nullptr);
    by_columns(q, B, X, [&](MatrixView<const T, Cuda> b, MatrixView<T, Cuda> x) {
      q.phase(Phase::solve);
      factors_.apply(q, b, x, op);
      fill_if_failed(q, factors_.failed_at(), std::numeric_limits<T>::quiet_NaN(), x);
    });
    end_call(*its);
  }

  const std::int64_t* failed_at() const override { return factors_.failed_at(); }
  void pivots(std::int64_t* to) override {
    require(factors_.pivots().count() == this->order, "the method interchanges no rows");
    const SharedContext its = where_captured(its_);
    const Call call(*its, tuning_);
    wait_for_caller(*its, nullptr);
    const auto p = factors_.pivots().p;
    if (p.rows() > 0) copy_within(*its->q, to, p.data(), std::size_t(p.rows()) * sizeof(std::int64_t));
    end_call(*its);
  }

  Outcome wait() override {
    require(!its_->graph,
            "a factorization that was captured in a graph is done where that is launched: read failed_at() behind it");
    const Call call(*its_, tuning_);
    Queue<Cuda>& q = *its_->q;
    const Outcome outcome = factors_.outcome_of(*factors_.ending(q));
    q.finish();
    return outcome;
  }

 private:
  /// What its factors are made in: memory that was handed over, or has them, which is then only read.
  static Matrix<T, Cuda> memory_of(Given<T, Cuda>& A) {
    if (A.memory) return std::move(*A.memory);
    if (!A.factored) return Matrix<T, Cuda>(A.A.rows(), A.A.cols());
    return Matrix<T, Cuda>::lent({const_cast<T*>(A.A.data()), A.A.rows(), A.A.cols(), A.A.ld()});
  }
  void factor(Queue<Cuda>& q, const Given<T, Cuda>& A, Uplo triangle) {
    factors_.prepare(q, by_);
    q.phase(Phase::other);
    if (!A.memory) factors_.take(q, A.A);
    if (by_.mirrors) factors_.mirror_triangle(q, triangle);
    factors_.factor(q, by_);
  }
  void take_interchanges(Queue<Cuda>& q, const std::int64_t* given) {
    const Pivots<Cuda> pivots = factors_.pivots();
    fill(q, std::int64_t(-1), pivots.zero);
    if (pivots.count() == 0) return;
    follow_interchanges(q, given, pivots);
  }
  static void end_call(Context::State& its) {
    its.q->forget_phases();
    its.q->let_wait(its.stream);
  }

  SharedContext its_;
  const Tuning tuning_;
  const Recipe by_;
  DecompositionIn<T, Cuda> factors_;
};

}  // namespace lasolve
