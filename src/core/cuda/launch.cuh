// Launches of kernels that are more than blocks which run when there is room.
#pragma once

#include "core/cuda/check.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// How the blocks of a kernel run, as flags. apart, which is none: when there is room. soon: they are put on the device while
/// the kernel before them in the queue ends, and call await_kernel_before() before they touch what it may; at least one thread
/// always does, for the kernel behind takes it that when this one has ended, so has the one before. cluster: each row of blocks is
/// a cluster, of at most 16. together: all run at the same time, as many as fit on the device.
enum class Blocks : unsigned { apart = 0, soon = 1, cluster = 2, together = 4 };
constexpr Blocks operator|(Blocks a, Blocks b) { return Blocks(unsigned(a) | unsigned(b)); }
/// Whether they have one in common.
constexpr bool operator&(Blocks a, Blocks b) { return (unsigned(a) & unsigned(b)) != 0; }

/// What the kernel before has written is there. Where devices cannot begin a kernel early, it always is.
__device__ inline void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The kernel behind, if it is launched to be there soon, may be put on the device now instead of when this one ends. By
/// all blocks.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
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
  cudaLaunchAttribute attributes[3]{};
  unsigned count = 0;
  if (how & Blocks::cluster) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {blocks.x, 1, 1};
  }
  if ((how & Blocks::soon) && q.has_clusters()) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (how & Blocks::together) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = q.stream();
  config.attrs = attributes;
  config.numAttrs = count;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace lasolve
