// Device memory is read and written after what the caller has given the device: on the legacy default stream, or on a stream
// that is named.
#include <optional>

#include "core/current_device.hpp"
#include "lasolve/pieces.hpp"
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

/// A matrix in two pieces, of which the one on device `second` is late, on the default stream of that device. The first time loads kernels.
void expect_pieces_are_waited_for(int second) {
  constexpr std::int64_t n = 300, half = 150;
  const Matrix<double> A = random_matrix(n, n, 1), B = random_matrix(n, 1, 2);
  const auto columns = [&](std::int64_t first) {
    return matrix_of<double>(n, half, [&](auto i, auto j) { return A(i, first + j); });
  };
  Queue<Cuda> q(0);
  const Matrix<double, Cuda> left = upload(q, columns(0));
  Options o;
  o.device = {Device::cuda, 0}, o.cards = {0, second}, o.factorization = Method::lu;
  for (int time = 0; time < 2; ++time) {
    Matrix<double, Cuda> late;
    std::optional<CurrentDevice> there(second);
    Queue<Cuda> its(second);
    const Matrix<double, Cuda> right = upload(its, columns(half));
    late = upload(its, matrix_of<double>(n, half, [](auto i, auto j) { return i == half + j; }));
    CUDA_CHECK(cudaDeviceSynchronize());
    copy_late<<<1, 256>>>(late.data(), right.data(), right.ld() * half, late_by);
    CUDA_CHECK(cudaPeekAtLastError());
    EXPECT_TRUE(is_busy(cudaStreamLegacy)) << "nothing is late";
    there.reset();
    const std::vector<Borrowed<const double>> pieces = {left.view(), std::as_const(late).view()};
    Matrix<double> X(n, 1);
    EXPECT_TRUE(factor_pieces(pieces, o).solve(B, X).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
  }
}
TEST(OrderOnCuda, is_after_the_default_stream_of_each_piece) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  expect_pieces_are_waited_for(0);
}
TEST(OrderOnCuda, is_after_the_default_stream_of_each_piece_on_another_device) {
  if (const std::string why = why_no_cuda_device(1); !why.empty()) GTEST_SKIP() << why;
  expect_pieces_are_waited_for(1);
}

}  // namespace
}  // namespace lasolve::test
