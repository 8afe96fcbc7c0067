// Device memory is read and written after what the caller has given the device: on the legacy default stream, or on a stream
// that is named.
#include "late.cuh"

namespace lasolve::test {
namespace {

TEST(OrderOnCuda, is_after_the_legacy_default_stream) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(default_stream(), cudaStreamLegacy);
  expect_order_after_the_default_stream();
}

template <class Late>
void expect_order_after_a_stream_that_is_named() {
  cudaStream_t own = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  {
    Late late(own);
    const auto solve = [&](Factorization<double>& factors, DeviceB B, DeviceX X) {
      EXPECT_TRUE(factors.solve(B, X, Op::none, own).outcome.ok());
    };
    late.expect_B_is_waited_for(solve);
    late.expect_X_is_left_alone(solve);
    late.expect_A_is_waited_for([&](auto& A) { return Factorization<double>(std::as_const(A).view(), {}, own); });
    late.expect_A_is_waited_for([&](auto& A) { return Factorization<double>(std::move(A), {}, own); });
  }
  CUDA_CHECK(cudaStreamDestroy(own));
}
TEST(OrderOnCuda, is_after_a_stream_that_is_named) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  expect_order_after_a_stream_that_is_named<LateWork>();
  expect_order_after_a_stream_that_is_named<LateSmallWork>();
}

}  // namespace
}  // namespace lasolve::test
