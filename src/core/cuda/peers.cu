#include <mutex>
#include <set>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/memory_in_order.hpp"
#include "core/process.hpp"
#include "core/transfer.hpp"

namespace lasolve {

void copy_columns_between(Queue<Cuda>& q, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t bytes, std::size_t columns) {
  if (bytes == 0 || columns == 0) return;
  if (columns == 1 || (to_pitch == bytes && from_pitch == bytes))
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes * columns, cudaMemcpyDefault, q.stream()));
  else
    CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, columns, cudaMemcpyDefault, q.stream()));
}

void let_read_each_other(std::span<const int> devices) {
  static std::mutex guard;
  constinit static NeverDestroyed<std::set<std::pair<int, int>>> peers;
  const std::lock_guard lock(guard);
  for (const int reader : devices)
    for (const int read : devices) {
      int can = 0;
      if (reader == read || peers.get().count({reader, read}) > 0) continue;
      if (!succeeded(cudaDeviceCanAccessPeer(&can, reader, read)) || !can) continue;
      const CurrentDevice current(reader);
      // The caller may have let them.
      if (const cudaError_t e = cudaDeviceEnablePeerAccess(read, 0); e != cudaErrorPeerAccessAlreadyEnabled)
        CUDA_CHECK(e);
      else
        cudaGetLastError();
      let_read_pool(reader, read);
      peers.get().emplace(reader, read);
    }
}

}  // namespace lasolve
