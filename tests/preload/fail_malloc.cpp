// To be loaded before the C library. LASOLVE_FAIL_MALLOC=k: the k-th allocation of the process fails; =k+: so do all after it.
// LASOLVE_COUNT_MALLOCS=FILE: how many there were is written there at the end.
// Allocations count from main on. What shared libraries do when they are loaded is theirs: cuBLAS ends the process there. So do
// OpenBLAS and what it stands on, whenever an allocation of theirs fails: those do not count.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

using Main = int(int, char**, char**);
Main* program = nullptr;
std::atomic<bool> counts = false;
std::atomic<long> made = 0;

int counted_main(int argc, char** argv, char** environment) {
  counts = true;
  return program(argc, argv, environment);
}

bool is_of_openblas(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return false;
  for (const char* library : {"libopenblas", "libblas", "libgomp", "libgfortran"})
    if (std::strstr(info.dli_fname, library)) return true;
  return false;
}

bool fails(const void* caller) {
  if (!counts || is_of_openblas(caller)) return false;
  static long first = -1;
  static bool all = false;
  if (first < 0) {
    const char* text = std::getenv("LASOLVE_FAIL_MALLOC");
    char* end = nullptr;
    first = text ? std::strtol(text, &end, 10) : 0;
    all = text && *end == '+';
  }
  const long k = ++made;
  if (first == 0 || (all ? k < first : k != first)) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((destructor)) void write_count() {
  const char* path = std::getenv("LASOLVE_COUNT_MALLOCS");
  if (!path) return;
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%ld\n", made.load());
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, text, std::size_t(length)) != length) _exit(99);
  close(file);
}

}  // namespace

extern "C" {
// The C library's function that calls main.
int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  const auto start = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  program = main;
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
void* malloc(std::size_t size) { return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}
