// What the CUDA side answers in a build without it.
#include "core/no_cuda/refuse.hpp"

#include "core/capture.hpp"
#include "core/cuda_devices.hpp"
#include "core/current_device.hpp"
#include "core/device_properties.hpp"
#include "core/kept_queue.hpp"
#include "core/memory_kind.hpp"
#include "core/process.hpp"
#include "core/traffic.hpp"
#include "core/transfer.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {

template <>
void* Memory<Cuda>::allocate(std::size_t) {
  refuse();
}
template <>
void Memory<Cuda>::release(void*) noexcept {}
template <>
std::size_t Memory<Cuda>::available(std::size_t) {
  return 0;
}

KeptQueue keep_queue(int) { refuse(); }
std::optional<std::uint64_t> capture_of(CUstream_st*) { refuse(); }
void GiveBackQueue::operator()(Queue<Cuda>*) const noexcept {}
inline namespace LASOLVE_ABI {

void release_unused_memory(int) { refuse(); }

}  // namespace LASOLVE_ABI

struct Queue<Cuda>::State {};
Queue<Cuda>::Queue(int, int) { refuse(); }
Queue<Cuda>::~Queue() = default;
int Queue<Cuda>::device() const { refuse(); }
const DeviceProperties& Queue<Cuda>::properties() const { refuse(); }
int Queue<Cuda>::multiprocessors() const { refuse(); }
std::size_t Queue<Cuda>::shared_memory() const { refuse(); }
bool Queue<Cuda>::has_clusters() const { refuse(); }
const Tuning& Queue<Cuda>::tuning() const { refuse(); }
void Queue<Cuda>::tune(const Tuning&) { refuse(); }
void Queue<Cuda>::wait(Queue&) { refuse(); }
void Queue<Cuda>::join(Queue&) { refuse(); }
void Queue<Cuda>::wait(CUevent_st*) { refuse(); }
void Queue<Cuda>::wait(CUstream_st*) { refuse(); }
Queue<Cuda>& Queue<Cuda>::ahead() { refuse(); }
Queue<Cuda>& Queue<Cuda>::beside() { refuse(); }
Queue<Cuda>::PacketBuffer Queue<Cuda>::packet_buffer(std::size_t, unsigned) { refuse(); }
unsigned* Queue<Cuda>::counter() { refuse(); }
WaitLimit* Queue<Cuda>::wait_limit() { refuse(); }
void Queue<Cuda>::check_waits() const { refuse(); }
CUstream_st* Queue<Cuda>::stream() const { refuse(); }
cublasContext* Queue<Cuda>::blas() const { refuse(); }
void Queue<Cuda>::phase(Phase, double) { refuse(); }
void Queue<Cuda>::add_flops(double) { refuse(); }
void Queue<Cuda>::finish() { refuse(); }
PhaseTimes Queue<Cuda>::take_times() { refuse(); }
void Queue<Cuda>::on_progress(std::function<void(double)>) { refuse(); }
void Queue<Cuda>::abandon() noexcept {}
bool Queue<Cuda>::renew() noexcept { return false; }
void* Queue<Cuda>::scratch_bytes(std::size_t) { refuse(); }

void copy_columns(Queue<Cuda>&, Direction, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t) {
  refuse();
}

void fill_zero(Queue<Cuda>&, void*, std::size_t) { refuse(); }
void delay(Queue<Cuda>&, double) { refuse(); }
void copy_within(Queue<Cuda>&, void*, const void*, std::size_t) { refuse(); }
void copy_plainly(Queue<Cuda>&, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t) { refuse(); }

const DeviceProperties& device_properties(int) { refuse(); }

CurrentDevice::CurrentDevice(int) { refuse(); }
CurrentDevice::CurrentDevice(int, std::nothrow_t) noexcept {}
CurrentDevice::~CurrentDevice() = default;

MemoryKind memory_kind(const void*) noexcept { return {}; }

inline namespace LASOLVE_ABI {

const CudaDevices& cuda_devices() {
  constinit static NeverDestroyed<const CudaDevices> none;
  return none.get([] { return CudaDevices{.why_none = no_cuda_in_build}; });
}

}  // namespace LASOLVE_ABI
std::string why_unusable(int) { return no_cuda_in_build; }
std::string pci_bus_id(int) { return ""; }

}  // namespace lasolve
