// cuSOLVER's Xgetrf and Xgetrs, Xpotrf and Xpotrs, loaded when they are first asked for.
#include <cusolverDn.h>

#include <vector>

#include "baseline_solvers/baseline_solvers.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/shared_library.hpp"
#include "core/traffic.hpp"

namespace lasolve {
inline void check(cusolverStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUSOLVER_STATUS_SUCCESS)
    machine_error(("cuSOLVER status " + std::to_string(int(s))).c_str(), expression, file, line);
}
}  // namespace lasolve

namespace lasolve::baseline_solvers {

namespace {

/// The functions of the library, which the tool does not depend on otherwise.
struct CuSolver {
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  decltype(&cusolverDnCreateParams) create_params = nullptr;
  decltype(&cusolverDnXgetrf_bufferSize) getrf_size = nullptr;
  decltype(&cusolverDnXgetrf) getrf = nullptr;
  decltype(&cusolverDnXgetrs) getrs = nullptr;
  decltype(&cusolverDnXpotrf_bufferSize) potrf_size = nullptr;
  decltype(&cusolverDnXpotrf) potrf = nullptr;
  decltype(&cusolverDnXpotrs) potrs = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = function_of<Function>(library, "cuSOLVER", name);
}

const CuSolver& library() {
  static const CuSolver found = [] {
    void* handle = nullptr;
    for (const char* name : {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"})
      if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw MachineError(std::string("cuSOLVER cannot be loaded: ") + dlerror());
    CuSolver all;
    find(handle, "cusolverDnCreate", all.create);
    find(handle, "cusolverDnSetStream", all.set_stream);
    find(handle, "cusolverDnCreateParams", all.create_params);
    find(handle, "cusolverDnXgetrf_bufferSize", all.getrf_size);
    find(handle, "cusolverDnXgetrf", all.getrf);
    find(handle, "cusolverDnXgetrs", all.getrs);
    find(handle, "cusolverDnXpotrf_bufferSize", all.potrf_size);
    find(handle, "cusolverDnXpotrf", all.potrf);
    find(handle, "cusolverDnXpotrs", all.potrs);
    return all;
  }();
  return found;
}

/// Made once, on the device that is current then.
struct Session {
  Session() {
    CUDA_CHECK(library().create(&handle));
    CUDA_CHECK(library().create_params(&params));
    CUDA_CHECK(cudaMallocHost(&info_on_host, 2 * sizeof(int)));
  }
  static Session& one() {
    static Session made;
    return made;
  }
  /// What is called from now on is enqueued there, and the queue knows that it is given work.
  void enqueue_on(Queue<Cuda>& q) {
    const cudaStream_t before = std::exchange(stream, q.stream());
    if (stream != before) CUDA_CHECK(library().set_stream(handle, stream));
  }

  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
  cudaStream_t stream = nullptr;
  int* info_on_host = nullptr;  // what came of a factorization, and of a solve
};

template <class T>
class OfCuSolver final : public Solver<T, Cuda> {
 public:
  OfCuSolver(Queue<Cuda>& q, std::int64_t n, Method method)
      : q_(q), n_(n), cholesky_(method == Method::cholesky), copy_(n, n, n), pivots_(n, 1), info_(2, 1) {
    std::size_t on_host = 0;
    if (cholesky_)
      CUDA_CHECK(
          cu_.potrf_size(its_.handle, its_.params, triangle, n_, type, copy_.data(), n_, type, &on_device_, &on_host));
    else
      CUDA_CHECK(cu_.getrf_size(its_.handle, its_.params, n_, n_, type, copy_.data(), n_, type, &on_device_, &on_host));
    workspace_ = Matrix<char, Cuda>(std::int64_t(on_device_) + 1, 1);
    host_workspace_.resize(on_host + 1);
    fill_zero(q_, info_.data(), 2 * sizeof(int));
  }

  MatrixView<T, Cuda> matrix() override { return copy_; }
  void copy(MatrixView<const T, Cuda> X, MatrixView<T, Cuda> Y) override { convert(q_, X, Y); }
  void factor() override {
    its_.enqueue_on(q_);
    if (cholesky_)
      CUDA_CHECK(cu_.potrf(its_.handle, its_.params, triangle, n_, type, copy_.data(), n_, type, workspace_.data(),
                           on_device_, host_workspace_.data(), host_workspace_.size() - 1, info_.data()));
    else
      CUDA_CHECK(cu_.getrf(its_.handle, its_.params, n_, n_, type, copy_.data(), n_, pivots_.data(), type,
                           workspace_.data(), on_device_, host_workspace_.data(), host_workspace_.size() - 1,
                           info_.data()));
  }
  void solve(MatrixView<T, Cuda> X) override {
    its_.enqueue_on(q_);
    if (cholesky_)
      CUDA_CHECK(cu_.potrs(its_.handle, its_.params, triangle, n_, X.cols(), type, copy_.data(), n_, type, X.data(),
                           X.ld(), info_.data() + 1));
    else
      CUDA_CHECK(cu_.getrs(its_.handle, its_.params, CUBLAS_OP_N, n_, X.cols(), type, copy_.data(), n_, pivots_.data(),
                           type, X.data(), X.ld(), info_.data() + 1));
  }
  bool finish() override {
    CUDA_CHECK(cudaMemcpyAsync(its_.info_on_host, info_.data(), 2 * sizeof(int), cudaMemcpyDeviceToHost, q_.stream()));
    CUDA_CHECK(cudaStreamSynchronize(q_.stream()));
    return its_.info_on_host[0] == 0 && its_.info_on_host[1] == 0;
  }

 private:
  static constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr cublasFillMode_t triangle = CUBLAS_FILL_MODE_LOWER;

  const CuSolver& cu_ = library();
  Session& its_ = Session::one();
  Queue<Cuda>& q_;
  std::int64_t n_;
  bool cholesky_;
  Matrix<T, Cuda> copy_;
  Matrix<std::int64_t, Cuda> pivots_;
  Matrix<int, Cuda> info_;
  Matrix<char, Cuda> workspace_;
  std::size_t on_device_ = 0;
  std::vector<char> host_workspace_;
};

template <class T>
std::unique_ptr<Solver<T, Cuda>> make(Queue<Cuda>& q, std::int64_t n, Method method) {
  const CurrentDevice current(q);
  return std::make_unique<OfCuSolver<T>>(q, n, method);
}

std::string note(Method) { return "cuSOLVER's time is without copies of A"; }

}  // namespace

Library cusolver() {
  return {"cusolver", "cuSOLVER", true, note, [] { library(); }, {nullptr, nullptr, make<double>, make<float>}};
}

}  // namespace lasolve::baseline_solvers
