// cuSOLVER's Xgetrf and Xpotrf with their solves, loaded when they are first asked for, timed with events.
#include <cusolverDn.h>

#include "compare/peers.hpp"
#include "core/cuda/elementwise.cuh"
#include "core/current_device.hpp"
#include "core/shared_library.hpp"
#include "core/transfer.hpp"

namespace lasolve {
inline void check(cusolverStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUSOLVER_STATUS_SUCCESS)
    machine_error(("cuSOLVER status " + std::to_string(int(s))).c_str(), expression, file, line);
}
}  // namespace lasolve

namespace lasolve::compare {

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

/// What a call needs, made once.
struct Session {
  Queue<Cuda> q{0};
  CurrentDevice current{q};
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;

  Session() {
    CUDA_CHECK(library().create(&handle));
    CUDA_CHECK(library().create_params(&params));
  }
};

double solve(const System& s, Method method, int) {
  static Session session;
  Queue<Cuda>& q = session.q;
  const CurrentDevice current(q);
  const CuSolver& cu = library();
  const std::int64_t n = s.A.rows(), nrhs = s.B.cols();
  const bool cholesky = method == Method::cholesky;
  constexpr cudaDataType f64 = CUDA_R_64F;
  constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
  Matrix<double, Cuda> A(n, n, n), X(n, nrhs, n);
  Matrix<std::int64_t, Cuda> pivots(n, 1);
  Matrix<int, Cuda> info(1, 1);
  copy<double>(q, s.A, A.view());
  copy<double>(q, s.B, X.view());
  std::size_t on_device = 0, on_host = 0;
  if (cholesky)
    CUDA_CHECK(cu.potrf_size(session.handle, session.params, lower, n, f64, A.data(), n, f64, &on_device, &on_host));
  else
    CUDA_CHECK(cu.getrf_size(session.handle, session.params, n, n, f64, A.data(), n, f64, &on_device, &on_host));
  Matrix<char, Cuda> workspace(std::int64_t(on_device) + 1, 1);
  std::vector<char> host_workspace(on_host + 1);
  q.finish();
  q.take_times();
  q.phase(Phase::solve);
  CUDA_CHECK(cu.set_stream(session.handle, q.stream()));  // the queue is told that it is given work
  if (cholesky) {
    CUDA_CHECK(cu.potrf(session.handle, session.params, lower, n, f64, A.data(), n, f64, workspace.data(), on_device,
                        host_workspace.data(), on_host, info.data()));
    CUDA_CHECK(
        cu.potrs(session.handle, session.params, lower, n, nrhs, f64, A.data(), n, f64, X.data(), n, info.data()));
  } else {
    CUDA_CHECK(cu.getrf(session.handle, session.params, n, n, f64, A.data(), n, pivots.data(), f64, workspace.data(),
                        on_device, host_workspace.data(), on_host, info.data()));
    CUDA_CHECK(cu.getrs(session.handle, session.params, CUBLAS_OP_N, n, nrhs, f64, A.data(), n, pivots.data(), f64,
                        X.data(), n, info.data()));
  }
  q.finish();
  const double seconds = q.take_times().seconds_of(Phase::solve);
  copy<double>(q, X.view(), s.X);
  q.finish();
  return seconds;
}

}  // namespace

std::optional<Peer> cusolver() { return Peer{"cusolver", true, "cuSOLVER's time is without copies of A", solve}; }

}  // namespace lasolve::compare
