// A malloc of the program's own, which never takes memory back, and ends the program where it is given some of another.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t most = std::size_t(512) << 20;
char memory[most];
std::atomic<std::size_t> used = 0;

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// How many bytes it has stands before it.
void* take(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  const std::size_t first = used.fetch_add(sizeof bytes + alignment + bytes) + sizeof bytes;
  if (first + alignment + bytes > most) return nullptr;
  char* const taken = memory + first + (alignment - address_of(memory + first) % alignment) % alignment;
  std::memcpy(taken - sizeof bytes, &bytes, sizeof bytes);
  return taken;
}

std::size_t bytes_of(const void* taken) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const char*>(taken) - sizeof bytes, sizeof bytes);
  return bytes;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) { return take(bytes); }
void* calloc(std::size_t count, std::size_t bytes) { return take(count * bytes); }  // it is still zero
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return take(bytes, alignment); }
void* memalign(std::size_t alignment, std::size_t bytes) { return take(bytes, alignment); }
int posix_memalign(void** taken, std::size_t alignment, std::size_t bytes) {
  *taken = take(bytes, alignment);
  return *taken ? 0 : ENOMEM;
}
void* realloc(void* before, std::size_t bytes) {
  void* const taken = take(bytes);
  if (before && taken) std::memcpy(taken, before, bytes < bytes_of(before) ? bytes : bytes_of(before));
  return taken;
}
void free(void* taken) {
  if (!taken || address_of(taken) - address_of(memory) < most) return;
  const char message[] = "memory of another malloc is given back to that of the program\n";
  if (write(2, message, sizeof message - 1) > 0) std::abort();
}
}
