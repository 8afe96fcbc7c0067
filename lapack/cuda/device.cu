// Systems on a CUDA device, over the solver's tasks and primitives there, as engine.cpp has them on the CPU.
#include "lapack/device.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/cuda/arrival.hpp"
#include "core/transfer.hpp"
#include "solvers/apply.hpp"
#include "solvers/devices/cuda/call.hpp"
#include "solvers/devices/cuda/extra.cuh"
#include "solvers/devices/cuda/matrix_facts.cuh"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/devices/cuda/plan.cuh"
#include "solvers/devices/cuda/trsm/out_of_place.cuh"
#include "solvers/lu/cuda/row_interchanges.cuh"
#include "solvers/prepare.hpp"

namespace lasolve {

// With their kernels, in solvers/devices/cuda/engine.cu.
#define LASOLVE_OF_ENGINE(T)                                                                                     \
  extern template bool perform(Queue<Cuda>&, Queue<Cuda>&, Method, const Task&, const Workpiece<T, Cuda>&);      \
  extern template void apply_factors(Queue<Cuda>&, const Gemm<T, Cuda>&, const MethodRecord&,                    \
                                     const MatrixView<T, Cuda>&, const Pivots<Cuda>&, MatrixView<const T, Cuda>, \
                                     MatrixView<T, Cuda>, Op);
LASOLVE_ELEMENTS(LASOLVE_OF_ENGINE)
#undef LASOLVE_OF_ENGINE

namespace lapack::there {

namespace {

/// A matrix on a device for a call, whose factors take its place.
template <class T, class M>
class Guest {
 public:
  /// `routine`: as of Work.
  Guest(const OnDevice& where, const char* routine, std::int64_t n, Uplo triangle = Uplo::both)
      : n_(n),
        routine_(routine),
        triangle_(triangle),
        device_(where.index),
        backend_(where.gemm),
        gemm_(where.gemm),
        its_(own_context(where.index)),
        call_(*its_),
        q_(*its_->q),
        A_(n, n),
        notes_(n, Pivots<Cuda>::columns + 1) {}

  /// Factors, while A comes; the first column or minor at which that failed, or −1. Pivots are there then.
  std::int64_t factor(MatrixView<T> A, MatrixView<T> B, std::int64_t* pivots) {
    const Recipe by = recipe();
    const auto plan = plan_on<T>(q_, by, n_);
    Buffers<T, Cuda> buffers(plan->plan);
    const Settled settled(q_);
    take_rhs(B);
    fill(q_, std::int64_t(-1), status());
    prepare_factorization(q_, gemm_, by, n_);
    {
      std::optional<Arrival> arrival;
      Supply<T, Cuda> supply;
      if (by.arrives)
        arrival.emplace(q_, MatrixView<const T>(A), A_.view());
      else
        copy<T>(q_, MatrixView<const T>(A), A_.view());
      if (by.as_it_comes)
        supply = [&](Queue<Cuda>& q, std::int64_t first, MatrixView<T, Cuda> columns) {
          arrival->await(q, first + columns.cols());
        };
      else if (by.arrives)
        arrival->await(q_, n_);
      if (by.mirrors) mirror(q_, A_.view(), triangle_);
      execute(*plan, q_, Workpiece<T, Cuda>{gemm_, A_.view(), this->pivots(), supply, buffers});
    }
    apply(Op::none);
    return ended(pivots);
  }

  /// With factors as the host has them.
  void solve(MatrixView<T> A, const std::int64_t* pivots, MatrixView<T> B, Op op) {
    const Settled settled(q_);
    take_rhs(B);
    copy<T>(q_, MatrixView<const T>(A), A_.view());
    if (triangle_ == Uplo::upper) mirror(q_, A_.view(), Uplo::upper);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n_));
    if (pivots) {
      std::iota(rows.begin(), rows.end(), 0);
      for (std::size_t k = 0; k < rows.size(); ++k) std::swap(rows[k], rows[std::size_t(pivots[k])]);
      copy<std::int64_t>(q_, MatrixView<const std::int64_t>(rows.data(), n_, 1, n_),
                         MatrixView<std::int64_t, Cuda>(this->pivots().interchanges.rows, n_, 1, n_));
    }
    apply(op);
    q_.finish();
    give_back([&] { copy<T>(q_, std::as_const(B_).view(), B); });
  }

  void give_back_whole(MatrixView<T> A, MatrixView<T> B) {
    give_back([&] {
      copy<T>(q_, std::as_const(A_).view(), A);
      if (!B.empty()) copy<T>(q_, std::as_const(B_).view(), B);
    });
  }

  /// L, or its transpose. Blocks on the diagonal are copied apart, for the sake of their other triangle.
  void give_back_half(Half<T> A, MatrixView<T> B) {
    constexpr std::int64_t block = 1024;
    const Settled settled(q_);
    if (!A.lower) mirror(q_, A_.view(), Uplo::lower);
    q_.finish();
    Matrix<T> square(std::min(n_, block), std::min(n_, block));
    give_back([&] {
      for (std::int64_t j = 0; j < n_; j += block) {
        const std::int64_t w = std::min(block, n_ - j), first = A.lower ? j + w : 0, end = A.lower ? n_ : j;
        const auto from = std::as_const(A_).view();
        copy<T>(q_, from.block(first, j, end - first, w), A.A.block(first, j, end - first, w));
        copy<T>(q_, from.block(j, j, w, w), square.view().block(0, 0, w, w));
        q_.finish();
        for (std::int64_t c = 0; c < w; ++c)
          for (std::int64_t r = A.lower ? c : 0; r < (A.lower ? w : c + 1); ++r) A.A(j + r, j + c) = square(r, c);
      }
      if (!B.empty()) copy<T>(q_, std::as_const(B_).view(), B);
    });
  }

 private:
  Recipe recipe() {
    Options options{.device = {Device::cuda, device_},
                    .factorization = M::record.method,
                    .triangle = triangle_,
                    .refine = Refine::none,
                    .equilibrate = Wanted::off,
                    .block_size = block_size_of(routine_, std::is_same_v<T, double>, n_, n_),
                    .allow_nonfinite = true,
                    .check = false,
                    .condition = Condition::off};
    const Tuning tuning = tuned(*its_, options);
    const Problem problem{.n = n_, .element = precision_of<T>, .from_host = true};
    return resolve(options, problem, means_of(backend_, options, tuning, false)).first();
  }

  void take_rhs(MatrixView<T> B) {
    if (B.empty()) return;
    B_ = Matrix<T, Cuda>(B.rows(), B.cols());
    copy<T>(q_, MatrixView<const T>(B), B_.view());
  }

  void apply(Op op) {
    if (B_.cols() == 0) return;
    const std::int64_t at_once = rhs_at_once(q_, n_, B_.cols());
    for (std::int64_t j = 0; j < B_.cols(); j += at_once) {
      const MatrixView<T, Cuda> X = B_.view().columns(j, std::min(at_once, B_.cols() - j));
      apply_factors<T>(q_, gemm_, M::record, A_.view(), pivots(), MatrixView<const T, Cuda>(X), X, op);
    }
  }

  std::int64_t ended(std::int64_t* pivots) {
    std::int64_t failed = -1;
    copy<std::int64_t>(q_, MatrixView<const std::int64_t, Cuda>(status()), MatrixView<std::int64_t>(&failed, 1, 1, 1));
    if (pivots)
      copy<std::int64_t>(q_, MatrixView<const std::int64_t, Cuda>(this->pivots().p),
                         MatrixView<std::int64_t>(pivots, n_, 1, n_));
    q_.finish();
    return failed;
  }

  /// Nothing of what the device has computed can fail any more.
  template <class Copies>
  void give_back(Copies copies) try {
    const Settled settled(q_);
    copies();
    q_.finish();
  } catch (const std::exception& e) {
    throw HalfWritten(e.what());
  }

  MatrixView<std::int64_t, Cuda> status() { return notes_.view().block(0, notes_.cols() - 1, 1, 1); }
  Pivots<Cuda> pivots() { return Pivots<Cuda>::in(notes_.view().block(0, 0, n_, Pivots<Cuda>::columns), status()); }

  const std::int64_t n_;
  const char* const routine_;
  const Uplo triangle_;
  const int device_;
  const GemmBackend<Cuda>& backend_;
  const Gemm<T, Cuda> gemm_;
  const SharedContext its_;
  const Call call_;
  Queue<Cuda>& q_;
  Matrix<T, Cuda> A_, B_;
  Matrix<std::int64_t, Cuda> notes_;  // as in solvers/decomposition.hpp
};

template <class T>
Uplo triangle_of(const Half<T>& A) {
  return A.lower ? Uplo::lower : Uplo::upper;
}

}  // namespace

template <class T>
std::int64_t factor_lu(const OnDevice& where, MatrixView<T> A, std::int64_t* pivots, MatrixView<T> B) {
  Guest<T, Lu> guest(where, "GETRF", A.rows());
  const std::int64_t zero = guest.factor(A, B, pivots);
  guest.give_back_whole(A, zero < 0 ? B : B.columns(0, 0));
  return zero;
}

template <class T>
std::int64_t factor_cholesky(const OnDevice& where, Half<T> A, MatrixView<T> B) {
  Guest<T, Cholesky> guest(where, "POTRF", A.n(), triangle_of(A));
  if (const std::int64_t bad = guest.factor(A.A, B, nullptr); bad >= 0) return std::max<std::int64_t>(1, bad);
  guest.give_back_half(A, B);
  return 0;
}

template <class T>
void solve_lu(const OnDevice& where, MatrixView<T> A, const std::int64_t* pivots, MatrixView<T> B, Op op) {
  Guest<T, Lu>(where, "GETRF", A.rows()).solve(A, pivots, B, op);
}

template <class T>
void solve_cholesky(const OnDevice& where, Half<T> A, MatrixView<T> B) {
  Guest<T, Cholesky>(where, "POTRF", A.n(), triangle_of(A)).solve(A.A, nullptr, B, Op::none);
}

LASOLVE_ELEMENTS(LASOLVE_ON_DEVICE)

}  // namespace lapack::there
}  // namespace lasolve
