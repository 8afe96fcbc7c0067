// Launches of kernels that are more than blocks which run when there is room.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/cuda/check.hpp"
#include "core/device_properties.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// How the blocks of a kernel run, as flags. apart, which is none: when there is room. soon: they are put on the device while
/// the kernel before them in the queue ends, and call await_kernel_before() before they touch what it may; at least one thread
/// always does, for the kernel behind takes it that when this one has ended, so has the one before. cluster: each row of blocks is
/// a cluster, for which there is room (has_room_for_cluster). together: all run at the same time, at most blocks_together; and
/// none of another grid of this process on the device of which the same holds.
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

/// Whether the device of q has room for a cluster of so many blocks of a kernel: its multiprocessors come in groups, which may
/// have lost some, or be shared out. It is asked once, about this kernel with so many threads and bytes of shared memory.
bool has_room_for_cluster(const Queue<Cuda>& q, const void* kernel, unsigned blocks, unsigned threads,
                          std::size_t shared);

/// How many blocks may wait for each other, one on a multiprocessor. Some are left free, where another kernel that does not end
/// may have its place: with all of them, such a grid could never begin.
inline int blocks_together(const Queue<Cuda>& q) {
  return std::max(q.multiprocessors() - std::max(q.multiprocessors() / 32, 1), 1);
}

/// Of grids whose blocks all wait for each other parts of two could be on the device, and the rest of neither find room. So what
/// is given to q from here on waits for those that other queues of this process have been given. While the lock is held, the
/// next may be launched. Those of one queue are in order, and cost nothing.
std::unique_lock<std::mutex> wait_for_grids_of_others(const Queue<Cuda>& q);
/// The stream ends, and its last grid may be waited for no longer by its name. Throws nothing.
void forget_grids_of(int device, CUstream_st* stream);

/// A device that pretends to have less than it has would run what the other could not: throws MachineError instead.
void require_pretended_room(const DeviceProperties& device, const void* kernel, Blocks how, dim3 blocks,
                            unsigned threads, std::size_t shared);

/// Enqueues a kernel whose blocks run when there is room and have no dynamic shared memory. Here and below a launch that fails
/// is known by what it returns, which <<<>>> drops (core/cuda/check.hpp).
template <class... Parameters, class... Arguments>
void launch(Queue<Cuda>& q, void (*kernel)(Parameters...), dim3 blocks, dim3 threads, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = q.stream();
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

/// Enqueues a kernel with `shared` bytes of dynamic shared memory. Throws MachineError where the queue takes no more work.
template <class... Parameters, class... Arguments>
void launch(Queue<Cuda>& q, void (*kernel)(Parameters...), Blocks how, dim3 blocks, unsigned threads,
            std::size_t shared, const Arguments&... arguments) {
  if (shared > q.shared_memory())
    throw MachineError("CUDA: a kernel needs " + std::to_string(shared) +
                       " bytes of shared memory, and a block on this device can have " +
                       std::to_string(q.shared_memory()));
  q.check_waits();
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  cudaLaunchAttribute attributes[3]{};
  unsigned count = 0;
  if (how & Blocks::cluster) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {blocks.x, 1, 1};
  }
  if ((how & Blocks::soon) && q.properties().can_begin_early()) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  std::unique_lock<std::mutex> in_order;
  if (how & Blocks::together) {
    in_order = wait_for_grids_of_others(q);
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
  if (q.properties().pretended)
    require_pretended_room(q.properties(), reinterpret_cast<const void*>(kernel), how, blocks, threads, shared);
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace lasolve
