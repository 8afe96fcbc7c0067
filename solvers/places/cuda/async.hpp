// Factors and solutions in the order of a stream of the caller's, with calls that return before the work is done.
#pragma once

#include <limits>

#include "core/cuda/elementwise.cuh"
#include "core/named_range.hpp"
#include "core/whereabouts.hpp"
#include "solvers/driver/blocking.hpp"
#include "solvers/places/cuda/call.hpp"

namespace lasolve {

/// Nothing here waits for the device, or asks it anything, but for wait(). All is done in a context with a stream.
template <class T>
class CudaAsync final : public AsyncEngine<T> {
 public:
  /// In a call on the context, after the caller's stream.
  CudaAsync(SharedContext its, const Tuning& tuning, Given<T, Cuda> A, const GemmBackend<Cuda>& gemm,
            const Options& options, const SolvePrecision& in)
      : its_(std::move(its)),
        tuning_(tuning),
        gemm_(gemm, in.products),
        factors_(options.factorization, A.memory ? std::move(*A.memory) : Matrix<T, Cuda>(A.A.rows(), A.A.cols())) {
    const NamedRange<Cuda> range("lasolve factor_async");
    Queue<Cuda>& q = *its_->q;
    const std::int64_t n = A.A.rows();
    Decided by{.precision = in, .method = options.factorization};
    const Settled settled(q);
    decide_blocking(q, options, false, n, by);
    prepare_factorization<T>(q, gemm_, by.method, by.schedule, n, by.block_size, false);
    q.phase(Phase::other);
    if (!A.memory) factors_.take(q, A.A);
    if (must_mirror(by.method, options.triangle)) mirror(q, factors_.whole(), options.triangle);
    factors_.factor(q, gemm_, by.schedule, by.block_size);
    end_call();
  }

  void solve(MatrixView<const T, Cuda> B, MatrixView<T, Cuda> X, Op op) override {
    Queue<Cuda>& q = *its_->q;
    require_on_device("B", Ends(B), q.device());
    require_on_device("X", Ends(X), q.device());
    if (B.empty()) return;
    const NamedRange<Cuda> range("lasolve solve_async");
    const Call call(*its_, tuning_);
    wait_for_caller(*its_, nullptr);
    q.phase(Phase::solve);
    factors_.apply(q, gemm_, B, X, op);
    fill_if_failed(q, factors_.failed_at(), std::numeric_limits<T>::quiet_NaN(), X);
    end_call();
  }

  const std::int64_t* failed_at() const override { return factors_.failed_at(); }

  Outcome wait() override {
    const Call call(*its_, tuning_);
    Queue<Cuda>& q = *its_->q;
    const Outcome outcome = factors_.outcome(q);
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
  const Gemm<T, Cuda> gemm_;
  Factors<T, Cuda> factors_;
};

}  // namespace lasolve
