// What is said of a call of CUDA that fails.
#include "core/cuda/check.hpp"

#include "devices.hpp"

namespace lasolve::test::check_test {
namespace {

template <class E>
std::string said_of(E error) {
  return complaint_of<DeviceError>([&] { check(error, "f(x)", "a.cu", 7); });
}

TEST(Check, says_which_call_failed_and_why) {
  EXPECT_EQ(said_of(cudaErrorInvalidValue), "CUDA: invalid argument in f(x) at a.cu:7");
  EXPECT_TRUE(says(said_of(CUBLAS_STATUS_NOT_SUPPORTED), " in f(x) at a.cu:7"));
  EXPECT_TRUE(says(said_of(CUDA_ERROR_INVALID_VALUE), " in f(x) at a.cu:7"));
  EXPECT_EQ(complaint_of<DeviceError>([] { launch_failed(cudaErrorInvalidValue, nullptr); }),
            "CUDA: invalid argument in the launch of a kernel");
}

TEST(Check, says_that_a_device_is_lost) {
  const char* const lost = "; this call or an earlier one has lost the device to this process";
  EXPECT_TRUE(says(said_of(cudaErrorIllegalAddress), lost));
  EXPECT_TRUE(says(said_of(CUDA_ERROR_ILLEGAL_ADDRESS), lost));
  EXPECT_TRUE(says(complaint_of<DeviceError>([] { launch_failed(cudaErrorLaunchFailure, nullptr); }), lost));
  try {
    check(cudaErrorIllegalAddress, "f(x)", "a.cu", 7);
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.reason, "an illegal memory access was encountered");
  }
}

}  // namespace
}  // namespace lasolve::test::check_test
