// The kernels of `tensor` for cards before and after Hopper, on whatever card of compute capability 8.0 or later is here: where it is
// Hopper, the conformance suite does not see them.
#include "gemm/cuda/ampere/tensor_mma.cuh"
//
#include "conforming.hpp"
#include "devices.hpp"

namespace lasolve::test {
namespace {

template <class T, class In>
void tensor(const void*, Queue<Cuda>& q, T alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, T beta,
            MatrixView<T, Cuda> C) {
  tensor_mma::gemm<In>(q, alpha, A, B, beta, C);
}
const GemmBackend<Cuda> tensor_for_any_card{
    .name = "tensor_mma",
    .summary = "",
    .kernels = {tensor<double, double>, GemmKernel<Precision::tf32, Cuda>(tensor<float, float>),
                GemmKernel(tensor<float, fp16>, 0x1p-20), GemmKernel(tensor<float, bf16>, 0x1p-20)},
};

TEST(TensorMmaOnCuda, keeps_to_the_contract) {
  std::string why = why_no(Device::cuda);
  if (why.empty()) why = tensor_mma::why_not(0);
  if (!why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for_each_precision([&](auto P) {
    if (const auto& kernel = tensor_for_any_card.in<P>())
      for (const bench::Group& group : bench::conformance_list(P, Device::cuda)) {
        SCOPED_TRACE(group.name);
        expect_right(q, kernel, group.cases);
      }
  });
}

}  // namespace
}  // namespace lasolve::test
