#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/cpu/limits.hpp"
#include "core/sizes.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {

OutOfMemory::OutOfMemory(const char* place, std::size_t wanted, std::size_t free)
    : MachineError(std::string("not enough ") + place + " memory: " + in_bytes(double(wanted)) + " wanted, " +
                   in_bytes(double(free)) + " free") {}

namespace {

/// Of less, nobody is asked whether it is there: the answer takes longer than a small system does.
constexpr std::size_t huge_page = std::size_t(2) << 20, line = 64;

bool begins_huge_page(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0; }

void* allocate_huge_pages(std::size_t bytes) {
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  // The kernel lends more than it has and kills whoever uses it: refuse what cannot be there.
  if (bytes > Memory<Cpu>::available()) return nullptr;
  void* const memory = std::aligned_alloc(huge_page, rounded);
  if (memory) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

/// From the first line in what malloc gives that begins no huge page; what malloc gave stands before it. aligned_alloc takes several times
/// as long.
void* allocate_lines(std::size_t bytes) {
  void* const given = std::malloc(bytes + 2 * line);
  if (!given) return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(given);
  std::uintptr_t first = (at / line + 1) * line;
  if (first % huge_page == 0) first += line;
  char* const memory = static_cast<char*>(given) + (first - at);
  std::memcpy(memory - sizeof given, &given, sizeof given);
  return memory;
}

}  // namespace

template <>
std::size_t Memory<Cpu>::available(std::size_t enough) {
  return enough < huge_page ? enough : limits().free_memory();
}

template <>
void* Memory<Cpu>::allocate(std::size_t bytes) {
  void* const memory = bytes >= huge_page ? allocate_huge_pages(bytes) : allocate_lines(bytes);
  if (memory == nullptr) throw OutOfMemory("host", bytes, available());
  return memory;
}

template <>
void Memory<Cpu>::release(void* memory) noexcept {
  if (memory) std::free(begins_huge_page(memory) ? memory : static_cast<void**>(memory)[-1]);
}

}  // namespace lasolve
