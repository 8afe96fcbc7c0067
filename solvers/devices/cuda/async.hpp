// Factors and solutions in the order of a stream of the caller's, with calls that return before the work is done.
#pragma once

#include <limits>

#include "core/cuda/elementwise.cuh"
#include "core/memory_kind.hpp"
#include "core/named_range.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/devices/cuda/by_columns.cuh"
#include "solvers/devices/cuda/call.hpp"

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
  require(!has_narrow_range(by.precision.products),
          "a factorization that nobody waits for cannot look how large A is, which products in fp16 need: the options "
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
  /// In a call on the context, after the caller's stream.
  CudaAsync(SharedContext its, const Tuning& tuning, Given<T, Cuda> A, const GemmBackend<Cuda>& gemm,
            const Options& options)
      : its_(std::move(its)),
        tuning_(tuning),
        by_(require_decided<T>(resolve(options, problem_of(A), means_of(gemm, options, tuning, false)).first())),
        factors_(gemm, by_.precision.products, by_.method,
                 A.memory ? std::move(*A.memory) : Matrix<T, Cuda>(A.A.rows(), A.A.cols())) {
    const NamedRange<Cuda> range("lasolve factor_async");
    Queue<Cuda>& q = *its_->q;
    const Settled settled(q);
    factors_.prepare(q, by_);
    q.phase(Phase::other);
    if (!A.memory) factors_.take(q, A.A);
    if (by_.mirrors) factors_.mirror_triangle(q, options.triangle);
    factors_.factor(q, by_);
    end_call();
  }

  void solve(Columns<const T, Cuda> B, Columns<T, Cuda> X, Op op) override {
    Queue<Cuda>& q = *its_->q;
    require_on_device("B", Ends(B.view), q.device());
    require_on_device("X", Ends(X.view), q.device());
    if (B.view.empty()) return;
    const NamedRange<Cuda> range("lasolve solve_async");
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, nullptr);
    by_columns(q, B, X, [&](MatrixView<const T, Cuda> b, MatrixView<T, Cuda> x) {
      q.phase(Phase::solve);
      factors_.apply(q, b, x, op);
      fill_if_failed(q, factors_.failed_at(), std::numeric_limits<T>::quiet_NaN(), x);
    });
    end_call();
  }

  const std::int64_t* failed_at() const override { return factors_.failed_at(); }

  Outcome wait() override {
    const Call call(*its_, tuning_);
    Queue<Cuda>& q = *its_->q;
    const Outcome outcome = factors_.outcome_of(*factors_.ending(q));
    q.finish();
    return outcome;
  }

 private:
  void end_call() {
    its_->q->forget_phases();
    its_->q->let_wait(its_->stream);
  }

  SharedContext its_;
  const Tuning tuning_;
  const Recipe by_;
  DecompositionIn<T, Cuda> factors_;
};

}  // namespace lasolve
