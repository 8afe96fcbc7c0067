// What a caller has given the device before it calls the solver, and what is still to come then: each test that includes this
// does its work on the default stream that its own file is compiled for.
#pragma once

#include "core/cuda/check.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

constexpr unsigned late_by = 50;  // ms

__device__ void spin(unsigned milliseconds) {
  const auto now = [] {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  for (const auto began = now(); now() - began < milliseconds * 1000000ull;) {
  }
}

/// to ← from, after a while. One block.
__global__ void copy_late(double* to, const double* from, std::int64_t count, unsigned milliseconds) {
  spin(milliseconds);
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

/// Whether what was given to a stream is still under way.
bool is_busy(cudaStream_t stream) {
  const cudaError_t e = cudaStreamQuery(stream);
  cudaGetLastError();
  return e == cudaErrorNotReady;
}

/// A system on the device, and memory that its matrices come to late. All kernels that solve it have been loaded, for which CUDA
/// waits.
template <std::int64_t order>
class LateWorkOf {
 public:
  static constexpr std::int64_t n = order, nrhs = 3;

  explicit LateWorkOf(cudaStream_t stream) : stream_(stream) {
    CUDA_CHECK(cudaDeviceSynchronize());
    Factorization<double> warm(A_there_.view());
    EXPECT_TRUE(warm.solve(B_there_.view(), X_.view()).outcome.ok());
  }

  /// What is solved with, called when B is on its way to the memory that it is given.
  template <class Solve>
  void expect_B_is_waited_for(Solve solve) {
    Factorization<double> factors(A_there_.view());
    Matrix<double, Cuda> late = upload(q_, matrix_of<double>(n, nrhs, [](auto, auto) { return 0; }));
    bring(late, B_there_);
    solve(factors, std::as_const(late).view(), X_.view());
    expect_solved();
  }

  /// X is still to be read when it is written.
  template <class Solve>
  void expect_X_is_left_alone(Solve solve) {
    Factorization<double> factors(A_there_.view());
    const Matrix<double> old = random_matrix(n, nrhs, 5);
    Matrix<double, Cuda> X = upload(q_, old), kept = upload(q_, B_);
    bring(kept, X);
    solve(factors, std::as_const(B_there_).view(), X.view());
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(same_bits(download(q_, kept), old));
  }

  /// factor(A) returns the factors of an A that is on its way.
  template <class Factor>
  void expect_A_is_waited_for(Factor factor) {
    Matrix<double, Cuda> late = upload(q_, matrix_of<double>(n, n, [](auto i, auto j) { return i == j; }));
    bring(late, A_there_);
    Factorization<double> factors = factor(late);
    EXPECT_TRUE(factors.solve(B_there_.view(), X_.view()).outcome.ok());
    expect_solved();
  }

 private:
  void bring(Matrix<double, Cuda>& to, const Matrix<double, Cuda>& from) {
    CUDA_CHECK(cudaDeviceSynchronize());
    copy_late<<<1, 256, 0, stream_>>>(to.data(), from.data(), from.ld() * from.cols(), late_by);
    CUDA_CHECK(cudaPeekAtLastError());
    EXPECT_TRUE(is_busy(stream_)) << "nothing is late";
  }
  void expect_solved() { EXPECT_LT((hpl_residual<double>(A_.view(), B_.view(), download(q_, X_))), hpl_threshold); }

  Queue<Cuda> q_{0};
  cudaStream_t stream_;
  const Matrix<double> A_ = random_matrix(n, n, 1), B_ = random_matrix(n, nrhs, 2);
  const Matrix<double, Cuda> A_there_ = upload(q_, A_), B_there_ = upload(q_, B_);
  Matrix<double, Cuda> X_ = upload(q_, B_);
};

using LateWork = LateWorkOf<300>;
using LateSmallWork = LateWorkOf<60>;  // which has kernels of its own

using DeviceB = MatrixView<const double, Cuda>;
using DeviceX = MatrixView<double, Cuda>;

template <class Late>
void expect_order_after_the_default_stream_of() {
  Late late(nullptr);
  const auto solve = [](Factorization<double>& factors, DeviceB B, DeviceX X) {
    EXPECT_TRUE(factors.solve(B, X).outcome.ok());
  };
  late.expect_B_is_waited_for(solve);
  late.expect_X_is_left_alone(solve);
  for (const bool check : {true, false})
    for (const Method method : {Method::lu, Method::automatic}) {
      Options o;
      o.check = check;
      o.factorization = method;
      late.expect_A_is_waited_for([&](auto& A) { return Factorization<double>(std::as_const(A).view(), o); });
      late.expect_A_is_waited_for([&](auto& A) { return Factorization<double>(std::move(A), o); });
    }
}
/// All that is read or written comes after the default stream of this file.
void expect_order_after_the_default_stream() {
  expect_order_after_the_default_stream_of<LateWork>();
  expect_order_after_the_default_stream_of<LateSmallWork>();
}

}  // namespace
}  // namespace lasolve::test
