#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/cpu/limits.hpp"
#include "core/cpu/tsan_order.hpp"
#include "core/memory_sources.hpp"
#include "core/sizes.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve {

inline namespace LASOLVE_ABI {

MemoryFrom::MemoryFrom(const MemorySource* host, const MemorySource* device) noexcept
    : host_before_(std::exchange(sources_of_thread.host, host)),
      device_before_(std::exchange(sources_of_thread.device, device)) {}
MemoryFrom::~MemoryFrom() { sources_of_thread = {host_before_, device_before_}; }

}  // namespace LASOLVE_ABI

OutOfMemory::OutOfMemory(const char* memory, std::size_t wanted, std::size_t free)
    : MachineError(std::string("not enough ") + memory + " memory: " + in_bytes(double(wanted)) + " wanted, " +
                   in_bytes(double(free)) + " free") {}

namespace {

/// Of less, nobody is asked whether it is there: the answer takes longer than a small system does.
constexpr std::size_t huge_page = std::size_t(2) << 20, line = 64;

bool begins_huge_page(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0; }

/// How long the large blocks are that somebody has: as many as there is room to note down.
class Lengths {
 public:
  void note(void* memory, std::size_t bytes) {
    for (Block& block : blocks_) {
      void* nobody = nullptr;
      if (!block.memory.compare_exchange_strong(nobody, &block)) continue;
      block.bytes = bytes;
      block.memory = memory;
      return;
    }
  }
  /// 0: it was not noted down.
  std::size_t strike_out(void* memory) {
    for (Block& block : blocks_) {
      if (block.memory != memory) continue;
      const std::size_t bytes = block.bytes;
      block.memory = nullptr;
      return bytes;
    }
    return 0;
  }

 private:
  struct Block {
    std::atomic<void*> memory = nullptr;  // null: of nobody; itself: of one that is about to be noted down
    std::size_t bytes = 0;
  };
  Block blocks_[32];
};

/// A block that was released, kept for the next request of the same size: the kernel would clear its pages again, which takes a tenth of the
/// time that a system of that size does, or more. Up to 32 MiB it is kept as it is. Up to 1 GiB it is kept, but the kernel may take its pages.
/// It is freed if it is larger, or if the process has a limit of its memory, which would count it.
class KeptBlock {
 public:
  /// A block of so many bytes; null: there is none.
  void* take(std::size_t bytes) {
    void* const memory = block_.exchange(nullptr, std::memory_order_acq_rel);
    if (!memory) return nullptr;
    comes_after(memory);
    if (length(memory) == bytes) return memory;
    std::free(memory);
    return nullptr;
  }
  void keep(void* memory, std::size_t bytes) {
    const bool is_kept =
        bytes > 0 && (bytes <= large || (bytes <= most && !is_limited() && lend_to_kernel(memory, bytes)));
    if (!is_kept) return std::free(memory);
    length(memory) = bytes;
    comes_before(memory);
    std::free(block_.exchange(memory, std::memory_order_acq_rel));
  }

 private:
  static constexpr std::size_t large = std::size_t(32) << 20, most = std::size_t(1) << 30;
  static bool is_limited() {
    const auto has = [](auto resource) {
      rlimit limit{};
      return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    };
    return has(RLIMIT_DATA) || has(RLIMIT_AS);
  }
  /// But for its first huge page, which says its length.
  static bool lend_to_kernel(void* memory, std::size_t bytes) {
    return madvise(static_cast<char*>(memory) + huge_page, bytes - huge_page, MADV_FREE) == 0;
  }
  /// It stands in the block.
  static std::size_t& length(void* memory) { return *static_cast<std::size_t*>(memory); }
  std::atomic<void*> block_ = nullptr;
};

constinit Lengths lengths;
constinit KeptBlock kept;

void* allocate_huge_pages(std::size_t bytes) {
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  if (void* const memory = kept.take(rounded)) {
    lengths.note(memory, rounded);
    return memory;
  }
  // The kernel lends more than it has and kills whoever uses it: refuse what cannot be there.
  if (bytes > Memory<Cpu>::available()) return nullptr;
  void* const memory = std::aligned_alloc(huge_page, rounded);
  if (!memory) return nullptr;
  madvise(memory, rounded, MADV_HUGEPAGE);
  lengths.note(memory, rounded);
  return memory;
}

/// What was given, and by whom: it stands before memory that begins no huge page.
struct Origin {
  void* given;
  std::size_t bytes;
  const MemorySource* source;  // null: malloc
};

/// From the first line in what is given that begins no huge page. aligned_alloc takes several times as long as malloc.
void* allocate_lines(std::size_t bytes, const MemorySource* source) {
  Origin origin{nullptr, bytes + 3 * line, source};
  origin.given = source ? source->allocate(source->self, origin.bytes, nullptr) : std::malloc(origin.bytes);
  if (!origin.given) return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(origin.given);
  std::uintptr_t first = (at + sizeof origin + line - 1) / line * line;
  if (first % huge_page == 0) first += line;
  char* const memory = static_cast<char*>(origin.given) + (first - at);
  std::memcpy(memory - sizeof origin, &origin, sizeof origin);
  return memory;
}
void release_lines(void* memory) {
  Origin origin;
  std::memcpy(&origin, static_cast<char*>(memory) - sizeof origin, sizeof origin);
  if (!origin.source) return std::free(origin.given);
  origin.source->release(origin.source->self, origin.given, origin.bytes, nullptr);
}

}  // namespace

template <>
std::size_t Memory<Cpu>::available(std::size_t enough) {
  const bool nobody_knows = sources_of_thread.host != nullptr;
  return enough < huge_page || nobody_knows ? enough : limits().free_memory();
}

template <>
void* Memory<Cpu>::allocate(std::size_t bytes) {
  const MemorySource* const source = sources_of_thread.host;
  void* const memory = bytes >= huge_page && !source ? allocate_huge_pages(bytes) : allocate_lines(bytes, source);
  if (memory == nullptr) throw OutOfMemory("host", bytes, source ? 0 : available());
  return memory;
}

template <>
void Memory<Cpu>::release(void* memory) noexcept {
  if (!memory) return;
  if (!begins_huge_page(memory)) return release_lines(memory);
  kept.keep(memory, lengths.strike_out(memory));
}

}  // namespace lasolve
