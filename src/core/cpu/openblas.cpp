#include "core/cpu/openblas.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "core/process.hpp"

namespace lasolve {

namespace {

/// Whether malloc is that of a program's own, as jemalloc, or that of a sanitizer. With RTLD_DEEPBIND a library has memory of it,
/// through functions of the C library, and gives that back to the C library's free. Sanitizers end a process that asks for it.
bool malloc_is_replaced() {
  void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!c_library) return true;
  const bool replaced = dlsym(RTLD_DEFAULT, "malloc") != dlsym(c_library, "malloc");
  dlclose(c_library);
  return replaced;
}

/// Whether the program has another OpenBLAS, to which ours would bind without RTLD_DEEPBIND.
bool is_beside_another() {
  if (void* const same = dlopen(LASOLVE_OPENBLAS, RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(same);
    return false;
  }
  return dlsym(RTLD_DEFAULT, "openblas_get_config") != nullptr;
}

void* load() {
  constexpr std::size_t library_bytes = std::size_t(64) << 20;
  // It makes a buffer for each processor as it is loaded.
  const auto processors = std::min<long>(sysconf(_SC_NPROCESSORS_CONF), most_openblas_threads);
  const std::size_t wanted = library_bytes + std::size_t(processors) * openblas_buffer_bytes;
  if (!address_space_is_left(wanted)) throw OutOfMemory("host", wanted, Memory<Cpu>::available());
  const bool replaced = malloc_is_replaced();
  if (replaced && is_beside_another())
    throw MachineError("OpenBLAS cannot be kept apart from that of a program whose malloc is not the C library's");
  void* const library = dlopen(LASOLVE_OPENBLAS, RTLD_NOW | RTLD_LOCAL | (replaced ? 0 : RTLD_DEEPBIND));
  if (!library)
    throw MachineError(std::string("OpenBLAS cannot be loaded: ") + dlerror() +
                       "; on Debian and Ubuntu it is the package libopenblas0-openmp");
  constexpr int with_openmp = 2;
  if (function_of<int (*)()>(library, LASOLVE_OPENBLAS, "openblas_get_parallel")() != with_openmp)
    throw MachineError(LASOLVE_OPENBLAS " is not the OpenMP variant of OpenBLAS");
  return library;
}

}  // namespace

void* openblas() {
  constinit static NeverDestroyed<void* const> library;
  return library.get(load);
}

bool address_space_is_left(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

}  // namespace lasolve
