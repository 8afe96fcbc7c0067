#include <algorithm>

#include "core/cuda/launch.cuh"

namespace lasolve {

void require_pretended_room(const DeviceProperties& device, const void* kernel, Blocks how, dim3 blocks,
                            unsigned threads, std::size_t shared) {
  const auto require = [](bool there, const std::string& what, std::size_t asked, std::size_t has) {
    if (!there)
      throw MachineError("CUDA: a kernel asks for " + std::to_string(asked) + " " + what +
                         ", and the device that this one pretends to be has " + std::to_string(has));
  };
  cudaFuncAttributes loaded{};
  CUDA_CHECK(cudaFuncGetAttributes(&loaded, kernel));
  const std::size_t bytes = loaded.sharedSizeBytes + shared;
  require(bytes <= device.shared_memory, "bytes of shared memory", bytes, device.shared_memory);
  if (how & Blocks::cluster)
    require(device.has_clusters_of(int(blocks.x)), "blocks in a cluster", blocks.x,
            std::size_t(device.largest_cluster));
  if (how & Blocks::cooperative) {
    int real = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&real, kernel, int(threads), shared));
    const std::size_t room = device.shared_memory_of_multiprocessor / (bytes + device.kept_shared_memory),
                      there = std::size_t(device.multiprocessors) * std::min(std::size_t(real), room),
                      asked = std::size_t(blocks.x) * blocks.y * blocks.z;
    require(device.cooperative && asked <= there, "blocks at the same time", asked, there);
  }
}

}  // namespace lasolve
