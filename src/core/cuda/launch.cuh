// Launches of kernels whose blocks wait for each other.
#pragma once

#include "core/cuda/check.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// apart: blocks run when there is room. soon: the same, but they are put on the device while the kernel before them in the
/// queue ends, and call await_kernel_before() before they touch what it may. cluster: each row of blocks is a cluster, of
/// at most 16. together: all run at the same time, as many as fit on the device.
enum class Blocks { apart, soon, cluster, together };

/// What the kernel before has written is there. Where devices cannot begin a kernel early, it always is.
__device__ inline void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Enqueues a kernel with `shared` bytes of dynamic shared memory.
template <class... Parameters, class... Arguments>
void launch(Queue<Cuda>& q, void (*kernel)(Parameters...), Blocks how, dim3 blocks, unsigned threads,
            std::size_t shared, const Arguments&... arguments) {
  if (shared > q.shared_memory())
    throw MachineError("CUDA: a kernel needs " + std::to_string(shared) +
                       " bytes of shared memory, and a block on this device can have " +
                       std::to_string(q.shared_memory()));
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  cudaLaunchAttribute attribute{};
  if (how == Blocks::cluster) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks.x, 1, 1};
  } else if (how == Blocks::soon) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = how == Blocks::together;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = q.stream();
  config.attrs = &attribute;
  config.numAttrs = how == Blocks::apart || (how == Blocks::soon && !q.has_clusters()) ? 0 : 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace lasolve
