// cuSOLVER's Xgetrf and Xpotrf, on device memory, timed with events; and with Xgetrs and Xpotrs as whole calls.
#include <cusolverDn.h>

#include <memory>

#include "bench/peers.hpp"
#include "bench/whole_call.hpp"
#include "core/cuda/elementwise.cuh"

namespace lasolve {
inline void check(cusolverStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUSOLVER_STATUS_SUCCESS)
    machine_error(("cuSOLVER status " + std::to_string(int(s))).c_str(), expression, file, line);
}
}  // namespace lasolve

namespace lasolve::bench {

/// Made once.
struct CuSolver {
  CuSolver() {
    CUDA_CHECK(cusolverDnCreate(&handle));
    CUDA_CHECK(cusolverDnCreateParams(&params));
  }
  static CuSolver& one() {
    static CuSolver made;
    return made;
  }

  Queue<Cuda> q{0};
  cusolverDnHandle_t handle;
  cusolverDnParams_t params;
};

/// As everybody copies: pageable memory, one call.
template <class T, class From, class To>
static void copy_plainly(MatrixView<const T, From> from, MatrixView<T, To> to) {
  CUDA_CHECK(cudaMemcpy2DAsync(to.data(), to.ld() * sizeof(T), from.data(), from.ld() * sizeof(T),
                               from.rows() * sizeof(T), from.cols(), cudaMemcpyDefault, CuSolver::one().q.stream()));
}

/// A copy of a matrix, and all that it takes to factor it in place and to solve with the factors.
template <class T>
class Copied {
 public:
  Copied(std::int64_t n, Method method) : n_(n), lu_(method == Method::lu), copy_(n, n, n), pivots_(n, 1), info_(2, 1) {
    std::size_t on_host = 0;
    if (lu_)
      CUDA_CHECK(cusolverDnXgetrf_bufferSize(its_.handle, its_.params, n_, n_, type, copy_.data(), n_, type,
                                             &on_device_, &on_host));
    else
      CUDA_CHECK(cusolverDnXpotrf_bufferSize(its_.handle, its_.params, triangle, n_, type, copy_.data(), n_, type,
                                             &on_device_, &on_host));
    workspace_ = Matrix<char, Cuda>(std::int64_t(on_device_) + 1, 1);
    host_workspace_.resize(on_host + 1);
    CUDA_CHECK(cudaMallocHost(&told_, 2 * sizeof(int)));
  }
  ~Copied() { cudaFreeHost(told_); }
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;

  void copy(MatrixView<const T, Cuda> A) { convert(its_.q, A, copy_.view()); }
  void bring(MatrixView<const T> A) { copy_plainly<T>(A, copy_.view()); }

  void factor() {
    CUDA_CHECK(cusolverDnSetStream(its_.handle, its_.q.stream()));  // the queue is told that it is given work
    if (lu_)
      CUDA_CHECK(cusolverDnXgetrf(its_.handle, its_.params, n_, n_, type, copy_.data(), n_, pivots_.data(), type,
                                  workspace_.data(), on_device_, host_workspace_.data(), host_workspace_.size() - 1,
                                  info_.data()));
    else
      CUDA_CHECK(cusolverDnXpotrf(its_.handle, its_.params, triangle, n_, type, copy_.data(), n_, type,
                                  workspace_.data(), on_device_, host_workspace_.data(), host_workspace_.size() - 1,
                                  info_.data()));
  }

  /// X ← inv(A) X.
  void solve(MatrixView<T, Cuda> X) {
    if (lu_)
      CUDA_CHECK(cusolverDnXgetrs(its_.handle, its_.params, CUBLAS_OP_N, n_, X.cols(), type, copy_.data(), n_,
                                  pivots_.data(), type, X.data(), X.ld(), info_.data() + 1));
    else
      CUDA_CHECK(cusolverDnXpotrs(its_.handle, its_.params, triangle, n_, X.cols(), type, copy_.data(), n_, type,
                                  X.data(), X.ld(), info_.data() + 1));
  }

  /// Until all is done, and whether it went well.
  bool wait() {
    CUDA_CHECK(cudaMemcpyAsync(told_, info_.data(), 2 * sizeof(int), cudaMemcpyDeviceToHost, its_.q.stream()));
    CUDA_CHECK(cudaStreamSynchronize(its_.q.stream()));
    return told_[0] == 0 && told_[1] == 0;
  }

 private:
  static constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr cublasFillMode_t triangle = CUBLAS_FILL_MODE_LOWER;

  CuSolver& its_ = CuSolver::one();
  std::int64_t n_;
  bool lu_;
  Matrix<T, Cuda> copy_;
  Matrix<std::int64_t, Cuda> pivots_;
  Matrix<int, Cuda> info_;
  Matrix<char, Cuda> workspace_;
  std::size_t on_device_ = 0;
  std::vector<char> host_workspace_;
  int* told_ = nullptr;
};

template <class T>
static double cusolver(MatrixView<const T, Cuda> A, Method method) {
  Queue<Cuda>& q = CuSolver::one().q;
  Copied<T> copied(A.rows(), method);
  copied.copy(A);
  q.phase(Phase::other);
  q.finish();
  q.take_times();
  q.phase(Phase::panel);
  copied.factor();
  q.finish();
  return q.take_times().seconds_of(Phase::panel);
}

/// A and B are copied in each call: both libraries leave them as they were.
template <class T>
static std::function<void()> cusolver_call(const System<T>& s) {
  const auto copied = std::make_shared<Copied<T>>(s.there.A.rows(), s.method);
  const auto factor = [=] {
    s.from_host ? copied->bring(s.here.A) : copied->copy(s.there.A);
    copied->factor();
  };
  if (s.is_factored) factor();
  return [=] {
    if (!s.is_factored) factor();
    s.from_host ? copy_plainly<T>(s.here.B, s.there.X) : convert(CuSolver::one().q, s.there.B, s.there.X);
    copied->solve(s.there.X);
    if (s.from_host) copy_plainly<T>(MatrixView<const T, Cuda>(s.there.X), s.here.X);
    require(copied->wait(), "cuSOLVER could not solve the system");
  };
}

static const Enter f64(Contestant<double>{"cuSOLVER", true, {}, cusolver<double>});
static const Enter f32(Contestant<float>{"cuSOLVER", true, {}, cusolver<float>});
static const EnterWholeCall call_f64(WholeCall<double>{"cuSOLVER", cusolver_call<double>});
static const EnterWholeCall call_f32(WholeCall<float>{"cuSOLVER", cusolver_call<float>});

}  // namespace lasolve::bench
