#include "calls.hpp"

#include <cmath>
#include <cstdint>

#include "core/cuda/check.hpp"
#include "core/transfer.hpp"
#include "lasolve/async.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::test::faults {

namespace {

/// Symmetric and diagonally dominant; every row adds up to 2 n.
template <class T>
Matrix<T> system_of(std::int64_t n) {
  Matrix<T> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = i == j ? T(n + 1) : T(1);
  return A;
}
template <class T>
Matrix<T> filled(std::int64_t n, std::int64_t nrhs, T value) {
  Matrix<T> X(n, nrhs);
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) X(i, j) = value;
  return X;
}

/// Whether X is all 1.
template <class T>
bool is_right(const Matrix<T>& X) {
  const double most = sizeof(T) == 4 ? 1e-4 : 1e-12;
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i)
      if (!(std::abs(double(X(i, j)) - 1) < most)) return false;
  return true;
}

template <class T>
Matrix<T, Cuda> upload(Queue<Cuda>& q, const Matrix<T>& A) {
  Matrix<T, Cuda> there(A.rows(), A.cols());
  copy<T>(q, A.view(), there.view());
  q.finish();
  return there;
}
template <class T>
Matrix<T> download(Queue<Cuda>& q, const Matrix<T, Cuda>& A) {
  Matrix<T> here(A.rows(), A.cols());
  copy<T>(q, A.view(), here.view());
  q.finish();
  return here;
}

template <class T>
bool solve_small(std::int64_t n, std::int64_t nrhs) {
  const Matrix<T> A = system_of<T>(n), B = filled(n, nrhs, T(2 * n));
  Matrix<T> X(n, nrhs);
  Options o;
  o.device = {Device::cuda, 0};
  if (!solve(A.view(), B.view(), X.view(), o).outcome.ok() || !is_right(X)) return false;
  Queue<Cuda> q(0);
  const Matrix<T, Cuda> dA = upload(q, A), dB = upload(q, B);
  Matrix<T, Cuda> dX(n, nrhs);
  return solve(dA.view(), dB.view(), dX.view()).outcome.ok() && is_right(download(q, dX));
}

/// A stream and a graph of the caller's.
struct Callers {
  Callers() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Callers() {
    if (launched) cudaGraphExecDestroy(launched);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaGetLastError();
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  template <class Calls>
  void capture(Calls calls) {
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    try {
      calls();
    } catch (...) {
      if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph) cudaGraphDestroy(graph);
      throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    const cudaError_t e = cudaGraphInstantiate(&launched, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(e);
  }

  cudaStream_t stream = nullptr;
  cudaGraphExec_t launched = nullptr;
};

/// In the order of a stream, and perhaps in a graph, which is then launched.
bool solve_in_order(Method method, bool captured) {
  constexpr std::int64_t n = 300, nrhs = 3;
  Callers callers;
  Queue<Cuda> q(0);
  const Matrix<double, Cuda> A = upload(q, system_of<double>(n)), B = upload(q, filled(n, nrhs, 2.0 * n));
  Matrix<double, Cuda> X = upload(q, filled(n, nrhs, 0.0));
  const Context context(0, callers.stream);
  Options o;
  o.factorization = method;
  o.check = false;
  if (captured) {
    callers.capture([&] { factor_async(A.view(), o, context).solve_async(B.view(), X.view()); });
    CUDA_CHECK(cudaGraphLaunch(callers.launched, callers.stream));
    CUDA_CHECK(cudaStreamSynchronize(callers.stream));
  } else {
    AsyncFactorization<double> factors = factor_async(A.view(), o, context);
    factors.solve_async(B.view(), X.view());
    if (!factors.wait().ok()) return false;
  }
  return is_right(download(q, X));
}

__global__ void writes_to_nowhere() { *reinterpret_cast<volatile int*>(16) = 1; }

}  // namespace

bool solve_small_systems() {
  for (const std::int64_t n : {1, 33, 128})
    if (!solve_small<double>(n, 2) || !solve_small<float>(n, 1)) return false;
  return true;
}
bool solve_async() { return solve_in_order(Method::lu, false) && solve_in_order(Method::cholesky, false); }
bool solve_captured() { return solve_in_order(Method::lu, true) && solve_in_order(Method::cholesky, true); }

void lose_device() {
  writes_to_nowhere<<<1, 1>>>();
  cudaDeviceSynchronize();
}

}  // namespace lasolve::test::faults
