// The same in a program whose default stream is that of the thread (nvcc --default-stream per-thread).
#include <thread>

#include "late.cuh"

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "to be compiled with --default-stream per-thread"
#endif

namespace lasolve::test {
namespace {

TEST(OrderPerThreadOnCuda, is_after_the_default_stream_of_the_thread) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(default_stream(), cudaStreamPerThread);
  expect_order_after_the_default_stream();
  std::thread(expect_order_after_the_default_stream).join();
}

/// The legacy stream would wait for all threads. The solve makes and frees no memory, for which CUDA may wait, too.
TEST(OrderPerThreadOnCuda, waits_for_no_other_thread) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  const Matrix<double> A = random_matrix(100, 100);
  const Matrix<double, Cuda> dA = upload(q, A), number(1, 1);
  Matrix<double, Cuda> X = upload(q, A), other(1, 1);
  Options o;
  o.check = false;
  Factorization<double> factors(dA.view(), o);
  const auto solve = [&] { EXPECT_TRUE(factors.solve(dA.view(), X.view()).outcome.ok()); };
  solve();
  copy_late<<<1, 1>>>(other.data(), number.data(), 1, 0);  // loads it
  CUDA_CHECK(cudaDeviceSynchronize());
  copy_late<<<1, 1>>>(other.data(), number.data(), 1, 2000);
  CUDA_CHECK(cudaPeekAtLastError());
  std::thread(solve).join();
  EXPECT_TRUE(is_busy(nullptr));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace
}  // namespace lasolve::test
