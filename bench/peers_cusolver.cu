// cuSOLVER's Xgetrf and Xpotrf, on device memory, timed with events.
#include <cusolverDn.h>

#include "bench/peers.hpp"
#include "core/cuda/elementwise.cuh"

namespace lasolve {
inline void check(cusolverStatus_t s, const char* expression, const char* file, int line) {
  if (s != CUSOLVER_STATUS_SUCCESS)
    machine_error(("cuSOLVER status " + std::to_string(int(s))).c_str(), expression, file, line);
}
}  // namespace lasolve

namespace lasolve::bench {

template <class T>
static double cusolver(MatrixView<const T, Cuda> A, Method method) {
  static Queue<Cuda> q(0);
  static const cusolverDnHandle_t handle = [] {
    cusolverDnHandle_t made;
    CUDA_CHECK(cusolverDnCreate(&made));
    CUDA_CHECK(cusolverDnSetStream(made, q.stream()));
    return made;
  }();
  static cusolverDnParams_t params = [] {
    cusolverDnParams_t made;
    CUDA_CHECK(cusolverDnCreateParams(&made));
    return made;
  }();
  const cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  const std::int64_t n = A.rows();
  Matrix<T, Cuda> copy(n, n, n);
  Matrix<std::int64_t, Cuda> pivots(n, 1);
  Matrix<int, Cuda> info(1, 1);
  convert(q, A, copy.view());
  std::size_t on_device = 0, on_host = 0;
  if (method == Method::lu)
    CUDA_CHECK(cusolverDnXgetrf_bufferSize(handle, params, n, n, type, copy.data(), n, type, &on_device, &on_host));
  else
    CUDA_CHECK(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, copy.data(), n, type,
                                           &on_device, &on_host));
  Matrix<char, Cuda> workspace(std::int64_t(on_device) + 1, 1);
  std::vector<char> host_workspace(on_host + 1);
  q.phase(Phase::other);
  q.finish();
  q.take_times();
  q.phase(Phase::panel);
  if (method == Method::lu)
    CUDA_CHECK(cusolverDnXgetrf(handle, params, n, n, type, copy.data(), n, pivots.data(), type, workspace.data(),
                                on_device, host_workspace.data(), on_host, info.data()));
  else
    CUDA_CHECK(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, copy.data(), n, type, workspace.data(),
                                on_device, host_workspace.data(), on_host, info.data()));
  q.finish();
  return q.take_times().seconds_of(Phase::panel);
}

static const Enter f64(Contestant<double>{"cuSOLVER", true, {}, cusolver<double>});
static const Enter f32(Contestant<float>{"cuSOLVER", true, {}, cusolver<float>});

}  // namespace lasolve::bench
