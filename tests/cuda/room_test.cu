// Launches that ask for more than the device has, or pretends to have.
#include "core/cuda/launch.cuh"
#include "devices.hpp"

namespace lasolve::test {
namespace {

__global__ void returns_at_once() {}
__global__ void sees_the_first_of_both(unsigned char* out) {
  extern __shared__ unsigned char dynamic[];
  __shared__ unsigned char fixed[4096];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = 1;
  __syncthreads();
  if (out) *out = fixed[0] + dynamic[0];
}

class RoomOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override { cudaGetLastError(); }
};

TEST_F(RoomOnCuda, is_asked_for_in_shared_memory) {
  Queue<Cuda> q(0);
  const std::size_t all = q.shared_memory();
  unsigned char* none = nullptr;
  launch(q, returns_at_once, Blocks::independent, 1, 32, all);
  EXPECT_THROW(launch(q, returns_at_once, Blocks::independent, 1, 32, all + 1), MachineError);
  launch(q, sees_the_first_of_both, Blocks::independent, 1, 32, all - 4096, none);
  EXPECT_THROW(launch(q, sees_the_first_of_both, Blocks::independent, 1, 32, all - 4095, none), MachineError);
  q.finish();
}

TEST_F(RoomOnCuda, is_asked_for_in_a_cluster) {
  Queue<Cuda> q(0);
  if (q.properties().has_clusters_of(2))
    launch(q, returns_at_once, Blocks::cluster, 2, 32, 0);
  else
    EXPECT_THROW(launch(q, returns_at_once, Blocks::cluster, 2, 32, 0), MachineError);
  q.finish();
}

TEST_F(RoomOnCuda, is_asked_for_at_the_same_time) {
  Queue<Cuda> q(0);
  const auto most = unsigned(q.multiprocessors());  // where each block has a multiprocessor for itself
  const std::size_t shared = q.shared_memory();
  launch(q, returns_at_once, Blocks::cooperative, most, 32, shared);
  EXPECT_THROW(launch(q, returns_at_once, Blocks::cooperative, most + 1, 32, shared), MachineError);
  q.finish();
}

}  // namespace
}  // namespace lasolve::test
