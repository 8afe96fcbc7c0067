#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/cuda/elementwise.cuh"
#include "lasolve/gemm.hpp"

namespace lasolve {

namespace {

__device__ std::uint16_t bits_of(float x, fp16) { return __half_as_ushort(__float2half_rn(x)); }
__device__ std::uint16_t bits_of(float x, bf16) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }

}  // namespace

inline namespace LASOLVE_ABI {

template <class Half>
void round_elements(Queue<Cuda>& q, MatrixView<const float, Cuda> X, MatrixView<Half, Cuda> Y) {
  for_each_element(q, Y, [X] __device__(Half & y, std::int64_t i, std::int64_t j) {
    y.bits = bits_of(X.data()[i + j * X.ld()], Half());
  });
}

template void round_elements(Queue<Cuda>&, MatrixView<const float, Cuda>, MatrixView<fp16, Cuda>);
template void round_elements(Queue<Cuda>&, MatrixView<const float, Cuda>, MatrixView<bf16, Cuda>);

}  // namespace LASOLVE_ABI

}  // namespace lasolve
