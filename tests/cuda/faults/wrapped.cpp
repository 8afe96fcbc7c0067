// The linker puts a function __wrap_NAME of this file in the place of each that is named below by WRAP (--wrap, tests/CMakeLists.txt).
// What libraries of NVIDIA call inside of themselves does not come by here.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/cuda/driver.hpp"
#include "faults.hpp"

extern "C" decltype(cudaGetDevice) __real_cudaGetDevice;

namespace lasolve::test::faults {

namespace {

bool is_on_second_card() {
  int device = 0;
  return __real_cudaGetDevice(&device) == cudaSuccess && device == 1;
}

/// What a call does, apart from what it makes or ends.
enum class Does { works, allocates, waits, ends };

struct State {
  std::mutex guard;
  Fault fault = Fault::none;
  long k = 0;
  Counted counted;
  std::array<std::set<const void*>, names_of_objects.size()> alive;

  bool fails(Does does, const char* name) {
    const std::lock_guard lock(guard);
    if (does != Does::ends) ++counted.calls;
    if (does == Does::allocates) ++counted.allocations;
    const bool is_lost = counted.calls >= k && (fault == Fault::lost || (fault == Fault::card && is_on_second_card()));
    const bool failed = does == Does::ends       ? is_lost
                        : fault == Fault::memory ? does == Does::allocates && counted.allocations >= k
                                                 : is_lost || (fault == Fault::one && counted.calls == k);
    if (failed && counted.failed.empty()) counted.failed = name;
    return failed;
  }
};
State state;

template <class R>
R error(Does does) {
  const bool lost = state.fault == Fault::lost || state.fault == Fault::card, memory = does == Does::allocates && !lost;
  if constexpr (std::is_same_v<R, cublasStatus_t>)
    return memory ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_EXECUTION_FAILED;
  else if constexpr (std::is_same_v<R, CUresult>)
    return memory ? CUDA_ERROR_OUT_OF_MEMORY : lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_UNKNOWN;
  else
    return memory ? cudaErrorMemoryAllocation : lost ? cudaErrorIllegalAddress : cudaErrorUnknown;
}

template <Object object>
bool is_alive(const void* it) {
  const std::lock_guard lock(state.guard);
  return state.alive[std::size_t(object)].count(it) > 0;
}

template <Does does, Object object, class First>
void note(First first) {
  if constexpr (object != Object::none) {
    const std::lock_guard lock(state.guard);
    auto& alive = state.alive[std::size_t(object)];
    if constexpr (does == Does::ends)
      alive.erase(first);
    else if constexpr (object == Object::locked_pages)
      alive.insert(first);
    else
      alive.insert(*first);
  }
}

/// The call itself, or a failure. One that waits for a device, or destroys, has then done so.
template <Does does, Object object, class R, class... P>
R through(const char* name, R (*real)(P...), P... p) {
  const bool failed = state.fails(does, name);
  if (failed && does != Does::ends && does != Does::waits) return error<R>(does);
  if constexpr (does == Does::ends)  // perhaps again, since it was told that it failed
    if (failed && !is_alive<object>(std::get<0>(std::tuple(p...)))) return error<R>(does);
  const R result = real(p...);
  if constexpr (sizeof...(P) > 0)
    if (result == R(0)) note<does, object>(std::get<0>(std::tuple(p...)));
  return failed ? error<R>(does) : result;
}

template <auto& name, auto real, Does does, Object object, class R, class... P>
R wrapped(P... p) {
  return through<does, object>(name, real, p...);
}
template <auto& name, auto real, Does does, Object object, class R, class... P>
auto wrapper(R (*)(P...)) {
  return wrapped<name, real, does, object, R, P...>;
}

/// A member of Driver, and what was there before.
template <auto member, Does does, Object object, class... P>
void wrap(const char* its_name, CUresult (*Driver::*)(P...)) {
  static const char* name;
  static CUresult (*real)(P...);
  auto& now = const_cast<Driver&>(driver()).*member;
  name = its_name, real = now;
  if (real) now = [](P... p) { return through<does, object>(name, real, p...); };
}

}  // namespace

void begin(Fault fault, long k) {
  const std::lock_guard lock(state.guard);
  state.fault = fault, state.k = k, state.counted = {};
}

Counted end() {
  const std::lock_guard lock(state.guard);
  state.fault = Fault::none;
  return std::exchange(state.counted, {});
}

Alive alive() {
  const std::lock_guard lock(state.guard);
  Alive counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = long(state.alive[i].size());
  return counts;
}

void wrap_driver() {
#define LASOLVE_WRAP(member, does, object) \
  wrap<&Driver::member, Does::does, Object::object>("the driver's " #member, &Driver::member)
  LASOLVE_WRAP(device, works, none);
  LASOLVE_WRAP(retain_primary, works, none);
  LASOLVE_WRAP(state_of_primary, works, none);
  LASOLVE_WRAP(push, works, none);
  LASOLVE_WRAP(resource_of, works, none);
  LASOLVE_WRAP(split, works, none);
  LASOLVE_WRAP(describe, works, none);
  LASOLVE_WRAP(make_green, allocates, green_context);
  LASOLVE_WRAP(destroy_green, ends, green_context);
  LASOLVE_WRAP(make_green_stream, works, stream);
#undef LASOLVE_WRAP
}

}  // namespace lasolve::test::faults

// A resolver, which the loader asks, has the type of the function from its declaration.
#define WRAP(name, does, object)                                                                \
  extern "C" decltype(name) __real_##name;                                                      \
  static constexpr char name_of_##name[] = #name;                                               \
  extern "C" decltype(name)* resolve_##name() {                                                 \
    using namespace lasolve::test::faults;                                                      \
    return wrapper<name_of_##name, &__real_##name, Does::does, Object::object>(&__real_##name); \
  }                                                                                             \
  extern "C" decltype(name) __wrap_##name __attribute__((ifunc("resolve_" #name)));

WRAP(cudaMalloc, allocates, device_memory)
WRAP(cudaMallocFromPoolAsync, allocates, device_memory)
WRAP(cudaFree, ends, device_memory)
WRAP(cudaFreeAsync, ends, device_memory)
WRAP(cudaHostAlloc, allocates, pinned_memory)
WRAP(cudaFreeHost, ends, pinned_memory)
WRAP(cudaHostRegister, allocates, locked_pages)
WRAP(cudaHostUnregister, ends, locked_pages)
WRAP(cudaMemPoolCreate, allocates, pool)
WRAP(cudaMemPoolDestroy, ends, pool)
WRAP(cudaMemPoolSetAttribute, works, none)
WRAP(cudaMemPoolGetAttribute, works, none)
WRAP(cudaMemPoolTrimTo, works, none)
WRAP(cudaMemGetInfo, works, none)
WRAP(cudaMemPoolSetAccess, works, none)
WRAP(cudaDeviceCanAccessPeer, works, none)
WRAP(cudaDeviceEnablePeerAccess, works, none)
WRAP(cudaMemcpyAsync, works, none)
WRAP(cudaMemcpy2DAsync, works, none)
WRAP(cudaMemsetAsync, works, none)
WRAP(cudaPointerGetAttributes, works, none)
WRAP(cudaGetDevice, works, none)
WRAP(cudaDeviceGetAttribute, works, none)
WRAP(cudaDeviceGetStreamPriorityRange, works, none)
WRAP(cudaDeviceSynchronize, waits, none)
WRAP(cudaStreamCreateWithFlags, works, stream)
WRAP(cudaStreamCreateWithPriority, works, stream)
WRAP(cudaStreamDestroy, ends, stream)
WRAP(cudaStreamSynchronize, waits, none)
WRAP(cudaStreamWaitEvent, works, none)
WRAP(cudaStreamGetCaptureInfo, works, none)
WRAP(cudaEventCreate, works, event)
WRAP(cudaEventCreateWithFlags, works, event)
WRAP(cudaEventDestroy, ends, event)
WRAP(cudaEventRecord, works, none)
WRAP(cudaEventQuery, works, none)
WRAP(cudaEventSynchronize, waits, none)
WRAP(cudaEventElapsedTime, works, none)
WRAP(cudaLaunchKernelExC, works, none)
WRAP(cudaFuncGetAttributes, works, none)
WRAP(cudaFuncSetAttribute, works, none)
WRAP(cudaOccupancyMaxActiveBlocksPerMultiprocessor, works, none)
WRAP(cudaOccupancyMaxActiveClusters, works, none)
WRAP(cudaUserObjectCreate, works, none)
WRAP(cudaGraphRetainUserObject, works, none)
WRAP(cublasCreate_v2, allocates, blas_handle)
WRAP(cublasDestroy_v2, ends, blas_handle)
WRAP(cublasSetStream_v2, works, none)
WRAP(cublasSetWorkspace_v2, works, none)
WRAP(cublasSetPointerMode_v2, works, none)
WRAP(cublasSetMathMode, works, none)
WRAP(cublasSetAtomicsMode, works, none)
WRAP(cublasDgemm_v2_64, works, none)
WRAP(cublasSgemm_v2_64, works, none)
WRAP(cublasDsymm_v2_64, works, none)
WRAP(cublasSsymm_v2_64, works, none)
WRAP(cublasGemmEx_64, works, none)
WRAP(cublasLtMatmul, works, none)
WRAP(cublasLtMatmulAlgoCheck, works, none)
