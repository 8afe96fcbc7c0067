#include <sys/mman.h>

#include <cstdlib>

#include "core/cpu/limits.hpp"
#include "core/sizes.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {

OutOfMemory::OutOfMemory(const char* place, std::size_t wanted, std::size_t free)
    : MachineError(std::string("not enough ") + place + " memory: " + in_bytes(double(wanted)) + " wanted, " +
                   in_bytes(double(free)) + " free") {}

template <>
std::size_t Memory<Cpu>::available(std::size_t) {
  return limits().free_memory();
}

template <>
void* Memory<Cpu>::allocate(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t(2) << 20;
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  // The kernel lends more than it has and kills whoever uses it: refuse what cannot be there.
  if (bytes >= huge_page && bytes > available()) throw OutOfMemory("host", bytes, available());
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw OutOfMemory("host", bytes, available());
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

template <>
void Memory<Cpu>::release(void* memory) noexcept {
  std::free(memory);
}

}  // namespace lasolve
