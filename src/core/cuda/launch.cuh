// Launches of kernels that are more than blocks which run when there is room.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/cuda/check.hpp"
#include "core/device_properties.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// How the blocks of a kernel run, as flags.
/// independent, which is none: when there is room.
/// dependent: programmatic dependent launch. They are put on the device while the kernel before them in the queue ends,
/// and call wait_for_prerequisites() before they touch what that may. At least one thread always does. The kernel
/// behind relies on it: when this one has ended, so has the one before.
/// cluster: each row of blocks is a thread-block cluster, for which there is room (has_room_for_cluster).
/// cooperative: all run at the same time, at most cooperative_blocks, and no other such grid of this process is on the
/// device meanwhile.
enum class Blocks : unsigned { independent = 0, dependent = 1, cluster = 2, cooperative = 4 };
constexpr Blocks operator|(Blocks a, Blocks b) { return Blocks(unsigned(a) | unsigned(b)); }
/// Whether they have one in common.
constexpr bool operator&(Blocks a, Blocks b) { return (unsigned(a) & unsigned(b)) != 0; }

/// What the kernel before has written is there. On devices without programmatic dependent launch it always is.
__device__ inline void wait_for_prerequisites() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// By all blocks: the kernel behind, if its launch is dependent, may be put on the device now instead of when this one
/// ends.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Whether the device of q has room for a cluster of so many blocks of a kernel: its multiprocessors come in groups, which may
/// have lost some, or be shared out. It is asked once, about this kernel with so many threads and bytes of shared memory.
bool has_room_for_cluster(const Queue<Cuda>& q, const void* kernel, unsigned blocks, unsigned threads,
                          std::size_t shared);

inline int cooperative_blocks(const Queue<Cuda>& q) { return q.properties().cooperative_blocks(); }

/// Of grids whose blocks all wait for each other parts of two could be on the device, and the rest of neither find room. So what
/// is given to q from here on waits for those that other queues of this process have been given. While the lock is held, the
/// next may be launched. Those of one queue are in order, and cost nothing.
std::unique_lock<std::mutex> wait_for_grids_of_others(const Queue<Cuda>& q);
/// Lets a kernel have so much dynamic shared memory on a device, the current one, and clusters of more blocks than are portable.
/// CUDA is told once, since that takes it as long as a launch. Throws MachineError where a block cannot have so much.
void allow(int device, const void* kernel, std::size_t shared, bool cluster);
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
  if (const cudaError_t e = cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...); !succeeded(e))
    launch_failed(e, reinterpret_cast<const void*>(kernel));
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
  allow(q.device(), reinterpret_cast<const void*>(kernel), shared, how & Blocks::cluster);
  cudaLaunchAttribute attributes[3]{};
  unsigned count = 0;
  if (how & Blocks::cluster) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {blocks.x, 1, 1};
  }
  if ((how & Blocks::dependent) && q.properties().can_begin_early()) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  std::unique_lock<std::mutex> in_order;
  if (how & Blocks::cooperative) {
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
  if (const cudaError_t e = cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...); !succeeded(e))
    launch_failed(e, reinterpret_cast<const void*>(kernel));
}

}  // namespace lasolve
