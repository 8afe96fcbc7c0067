#include "core/memory_kind.hpp"

#include "core/cuda/driver.hpp"

namespace lasolve {

// Asked of the driver, since the runtime would first make a context.
MemoryKind memory_kind(const void* memory) noexcept {
  const Driver* d = loaded_driver();
  if (!d) return {};
  unsigned kind = 0, managed = 0;
  int device = -1;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&kind, &managed, &device};
  // Memory that CUDA does not know is no error here: its kind is 0.
  if (d->attributes_of(3, asked, answers, CUdeviceptr(memory)) != CUDA_SUCCESS) return {};
  if (managed) return {MemoryKind::managed, device};
  if (kind == CU_MEMORYTYPE_DEVICE) return {MemoryKind::device, device};
  if (kind == CU_MEMORYTYPE_HOST) return {MemoryKind::host, -1};
  return {};
}

}  // namespace lasolve
