#include "core/cpu/openblas.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace lasolve {

namespace {

void* load() {
  constexpr std::size_t library_bytes = std::size_t(64) << 20;
  // It makes a buffer for each processor as it is loaded.
  const auto processors = std::min<long>(sysconf(_SC_NPROCESSORS_CONF), most_openblas_threads);
  const std::size_t wanted = library_bytes + std::size_t(processors) * openblas_buffer_bytes;
  if (!address_space_is_left(wanted)) throw OutOfMemory("host", wanted, Memory<Cpu>::available());
#ifdef __SANITIZE_ADDRESS__  // which forbids the other way
  constexpr int own_symbols_first = 0;
#else
  constexpr int own_symbols_first = RTLD_DEEPBIND;
#endif
  void* const library = dlopen(LASOLVE_OPENBLAS, RTLD_NOW | RTLD_LOCAL | own_symbols_first);
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
  static std::mutex loading;
  static void* library = nullptr;
  const std::lock_guard lock(loading);
  if (!library) library = load();
  return library;
}

bool address_space_is_left(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

}  // namespace lasolve
