#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/graph.hpp"
#include "core/cuda/memory_in_order.hpp"
#include "core/kept_queue.hpp"
#include "core/memory_kind.hpp"
#include "core/memory_sources.hpp"
#include "core/process.hpp"
#include "lasolve/context.hpp"

namespace lasolve {

namespace {

int current_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

/// What the pool of a device keeps of its memory: an eighth; and all but an eighth on one that has parts of systems of several cards,
/// which take most of it. That memory takes longer to make: 4 ms for each GB, since it is mapped on all of them.
constexpr std::uint64_t kept_of(std::uint64_t total) { return total / 8; }
constexpr std::uint64_t kept_of_several(std::uint64_t total) { return total - total / 8; }

struct Pool {
  cudaMemPool_t is = nullptr;  // null: the device has none
  bool known = false;          // whether it has

  std::uint64_t bytes(cudaMemPoolAttr which) const {
    std::uint64_t value = 0;
    if (is) succeeded(cudaMemPoolGetAttribute(is, which, &value));
    return value;
  }
};

/// Where a call fails there is none for now, and the next who needs it tries again.
void make(Pool& pool, int device) {
  int has_pools = 0;
  if (!succeeded(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device))) return;
  pool.known = !has_pools;
  if (!has_pools) return;
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = device;
  std::size_t free = 0, total = 0;
  cudaMemPool_t made = nullptr;
  count_made();
  if (!succeeded(cudaMemGetInfo(&free, &total)) || !succeeded(cudaMemPoolCreate(&made, &wanted))) return;
  std::uint64_t kept = kept_of(total);
  // No call waits for the work of another, to have its memory; and what is allocated waits for nothing, on any queue.
  int never = 0;
  if (succeeded(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept)) &&
      succeeded(cudaMemPoolSetAttribute(made, cudaMemPoolReuseAllowInternalDependencies, &never)))
    pool = {made, true};
  else
    succeeded(cudaMemPoolDestroy(made));
}

/// Made where `made` and it is not there.
Pool pool_of(int device, bool made) {
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<int, Pool>> all;
  const std::lock_guard lock(guard);
  Pool& pool = all.get()[device];
  if (made && !pool.known) make(pool, device);
  return pool;
}

/// Memory of pools, of callers and of graphs, and in whose order it is.
struct InOrder {
  int device;
  cudaStream_t stream;                   // null: that has ended, or there was none
  const MemorySource* source = nullptr;  // null: a pool
  std::size_t bytes = 0;                 // of a source
  bool is_of_graph = false;              // which gives it back
};
class Pooled {
 public:
  void add(void* memory, InOrder order) {
    const std::lock_guard lock(guard_);
    all_.emplace(memory, order);
  }
  std::optional<InOrder> remove(void* memory) noexcept {
    const std::lock_guard lock(guard_);
    const auto found = all_.find(memory);
    if (found == all_.end()) return {};
    const InOrder order = found->second;
    all_.erase(found);
    return order;
  }
  void forget(cudaStream_t stream) noexcept {
    const std::lock_guard lock(guard_);
    for (auto& [memory, order] : all_)
      if (order.stream == stream) order.stream = nullptr;
  }

 private:
  std::mutex guard_;
  std::unordered_map<void*, InOrder> all_;
};
Pooled& pooled() {
  constinit static NeverDestroyed<Pooled> all;
  return all.get();
}

thread_local const MemoryInOrderOf* order_of_thread = nullptr;

/// Gives back to CUDA what we hold of a device's memory and do not use. `stream`: in whose order some was given back before.
void give_back_unused(int device, cudaStream_t stream) {
  if (!InGraph::current()) let_go_of_graphs(), destroy_idle_queues(device);  // which wait for the device
  if (stream) succeeded(cudaStreamSynchronize(stream));
  if (const Pool pool = pool_of(device, false); pool.is) succeeded(cudaMemPoolTrimTo(pool.is, 0));
}

/// What was allocated; null where memory is short, also when all that we do not use was given back.
template <class Allocate>
void* or_null(int device, std::size_t bytes, cudaStream_t stream, Allocate allocate) {
  void* memory = nullptr;
  const auto succeeds = [&] {
    const cudaError_t e = fails_for_test() ? cudaErrorMemoryAllocation : allocate(&memory);
    if (e != cudaErrorMemoryAllocation) check(e, "an allocation of device memory", __FILE__, __LINE__);
    return succeeded(e);
  };
  if (succeeds()) return memory;
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (bytes > total) return nullptr;
  give_back_unused(device, stream);
  return succeeds() ? memory : nullptr;
}

void* allocate_from(const Pool& pool, const MemoryInOrderOf& order, std::size_t bytes) {
  void* const memory = or_null(order.device(), bytes, order.stream(),
                               [&](void** to) { return cudaMallocFromPoolAsync(to, bytes, pool.is, order.stream()); });
  if (!memory) return nullptr;
  try {
    pooled().add(memory, {order.device(), order.stream()});
  } catch (...) {
    succeeded(cudaFreeAsync(memory, order.stream()));
    throw;
  }
  return memory;
}

void* allocate_from(const MemorySource& source, int device, cudaStream_t stream, std::size_t bytes) {
  void* const memory = source.allocate(source.self, bytes, stream);
  if (!memory) throw OutOfMemory("device", bytes, 0);
  try {
    pooled().add(memory, {device, stream, &source, bytes});
  } catch (...) {
    source.release(source.self, memory, bytes, stream);
    throw;
  }
  return memory;
}

}  // namespace

void* GraphMemory::allocate(int device, std::size_t bytes) {
  all_.reserve(all_.size() + 1);
  void* const memory = or_null(device, bytes, nullptr, [&](void** to) {
    count_made();
    return cudaMalloc(to, bytes);
  });
  if (!memory) return nullptr;
  all_.push_back(memory);
  pooled().add(memory, {.device = device, .stream = nullptr, .is_of_graph = true});
  return memory;
}

GraphMemory::~GraphMemory() {
  const WhileCapturing relaxed;
  for (void* const memory : all_) pooled().remove(memory), count_made(), succeeded(cudaFree(memory));
}

MemoryInOrderOf::MemoryInOrderOf(int device, cudaStream_t stream) noexcept
    : device_(device), stream_(stream), before_(std::exchange(order_of_thread, this)) {}
MemoryInOrderOf::~MemoryInOrderOf() { order_of_thread = before_; }
MemoryInOrderOf::Suspended::Suspended() noexcept : before_(std::exchange(order_of_thread, nullptr)) {}
MemoryInOrderOf::Suspended::~Suspended() { order_of_thread = before_; }

inline namespace LASOLVE_ABI {

void release_unused_memory(int device) {
  const CurrentDevice current(device);
  give_back_unused(device, nullptr);
}

}  // namespace LASOLVE_ABI

void forget_order_of(cudaStream_t stream) noexcept { pooled().forget(stream); }

void let_read_pool(int reader, int of) {
  const CurrentDevice current(of);
  const Pool pool = pool_of(of, true);
  if (!pool.is) return;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = reader;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUDA_CHECK(cudaMemPoolSetAccess(pool.is, &access, 1));
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  std::uint64_t kept = kept_of_several(total);
  CUDA_CHECK(cudaMemPoolSetAttribute(pool.is, cudaMemPoolAttrReleaseThreshold, &kept));
}

std::size_t held_by_pool(int device) {
  const CurrentDevice current(device);
  return pool_of(device, false).bytes(cudaMemPoolAttrReservedMemCurrent);
}

template <>
std::size_t Memory<Cuda>::available(std::size_t enough) {
  if (sources_of_thread.device) return enough;  // nobody knows
  const int device = current_device();
  const CurrentDevice current(device);
  const Pool pool = pool_of(device, false);
  const std::size_t held = pool.bytes(cudaMemPoolAttrReservedMemCurrent),
                    used = pool.bytes(cudaMemPoolAttrUsedMemCurrent);
  const std::size_t unused = held - std::min(held, used);
  if (unused >= enough) return unused;  // to ask the device takes longer
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free + unused;
}

template <>
void* Memory<Cuda>::allocate(std::size_t bytes) {
  const MemoryInOrderOf* const order = order_of_thread;
  const int device = order ? order->device() : current_device();
  std::optional<CurrentDevice> current;
  if (!order) current.emplace(device);
  if (GraphMemory* const graph = InGraph::current()) {
    void* const memory = graph->allocate(device, bytes);
    if (!memory) throw OutOfMemory("device", bytes, available());
    return memory;
  }
  if (const MemorySource* const source = sources_of_thread.device)
    return allocate_from(*source, device, order ? order->stream() : nullptr, bytes);
  const Pool pool = pool_of(device, order != nullptr);
  void* memory = nullptr;
  if (order && pool.is)
    memory = allocate_from(pool, *order, bytes);
  else
    memory = or_null(device, bytes, nullptr, [&](void** to) {
      count_made();
      return cudaMalloc(to, bytes);
    });
  if (!memory) throw OutOfMemory("device", bytes, available());
  return memory;
}

// On the device of the memory: where a thread has no context, CUDA would make one on another.
template <>
void Memory<Cuda>::release(void* memory) noexcept {
  if (const auto order = pooled().remove(memory)) {
    if (order->is_of_graph) return;
    const CurrentDevice current(order->device, std::nothrow);
    if (const MemorySource* const source = order->source) {
      if (!order->stream) succeeded(cudaDeviceSynchronize());
      return source->release(source->self, memory, order->bytes, order->stream);
    }
    if (order->stream && succeeded(cudaFreeAsync(memory, order->stream))) return;
    succeeded(cudaDeviceSynchronize());  // cudaFree does not wait for the users of memory of a pool
    succeeded(cudaFree(memory));
    return;
  }
  const CurrentDevice current(memory_kind(memory).cuda_device, std::nothrow);
  count_made();
  succeeded(cudaFree(memory));
}

}  // namespace lasolve
