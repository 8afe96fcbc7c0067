// Triangular solves on CUDA, the kernels themselves.
#include "solvers/places/cuda/trsm/triangle.cuh"
//
#include <chrono>
#include <thread>

#include "triangles.hpp"

namespace lasolve::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, TriangularSolve, BothPrecisions<Cuda>);

namespace {

/// Memory of the host that the device reads and writes, too.
struct Signs {
  volatile int begun[1024], let_go, gave_up;
};

/// A block has a multiprocessor until the host lets go, for five seconds at most.
__global__ void hold_multiprocessor(Signs* signs) {
  const auto now = [] {
    std::uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  const std::uint64_t began = now();
  signs->begun[blockIdx.x] = 1;
  while (!signs->let_go && !signs->gave_up)
    if (now() > began + 5'000'000'000) signs->gave_up = 1;
}

/// Another kernel, which does not end, on all multiprocessors but `left`.
class Holder {
 public:
  explicit Holder(int left) {
    int multiprocessors = 0, shared = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&signs_), sizeof(Signs), cudaHostAllocMapped));
    std::fill_n(reinterpret_cast<char*>(signs_), sizeof(Signs), char(0));
    CUDA_CHECK(cudaFuncSetAttribute(hold_multiprocessor, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const int blocks = std::min(multiprocessors - left, 1024);
    hold_multiprocessor<<<unsigned(blocks), 32, std::size_t(shared), q_.stream()>>>(signs_);
    CUDA_CHECK(cudaGetLastError());
    for (int i = 0; i < blocks; ++i)
      while (!signs_->begun[i] && !signs_->gave_up) std::this_thread::yield();
  }
  ~Holder() {
    signs_->let_go = 1;
    cudaStreamSynchronize(q_.stream());
    cudaFreeHost(signs_);
  }
  bool holds() const { return !signs_->gave_up; }

 private:
  Queue<Cuda> q_{0};
  Signs* signs_ = nullptr;
};

/// More blocks of unknowns than find room at the same time.
TEST(SyncFree, gets_on_with_few_multiprocessors_on_Cuda) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const TriangleForm form{true, false, false, false};
  for (const std::int64_t count : {1, 20}) {
    const std::int64_t n = 5000;
    Queue<Cuda> q(0);
    const Matrix<double, Cuda> A = upload(q, random_triangle<double>(n, form)),
                               B = upload(q, padded_sides<double>(n, count, form));
    Matrix<double, Cuda> alone = upload(q, padded_sides<double>(n, count, form)),
                         beside = upload(q, padded_sides<double>(n, count, form));
    const auto solve = [&](Matrix<double, Cuda>& X) {
      solve_by_sync_free(q, from_the_left(form.of<double, Cuda>(A.view()), X.view()));
      q.finish();
    };
    solve(alone);
    {
      const Holder holder(2);
      solve(beside);
      EXPECT_TRUE(holder.holds()) << count << " right-hand sides waited for the other kernel to end";
    }
    EXPECT_TRUE(same_bits(download(q, alone), download(q, beside))) << count;
  }
}

}  // namespace
}  // namespace lasolve::test
