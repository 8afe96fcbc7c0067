#include "plugin/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "io/input_error.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/names.hpp"
#include "plugin/float_state.hpp"
#include "plugin/program.hpp"

namespace lasolve::plugin {

namespace {

constexpr const char* function = "lasolve_plugin_kernel";
using Function = const lasolve_kernel* (*)();

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw io::InputError(fmt::format("{}: error: {}", name, what));
}

/// Null where it cannot be loaded: dlerror() says why. Nothing that is loaded already binds to what it defines, so a function of the
/// C library that it has, too, such as one that reads the clock, is used by nobody else.
void* load(const std::string& library) {
  return dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Says it by what the loader says.
[[noreturn]] void fail_to_load(const std::string& name, const std::string& why) {
  if (why.find("undefined symbol") != why.npos)
    fail(name,
         fmt::format("it takes a function that no library has which it is linked with: {}; $LDLIBS names libraries "
                     "for a source",
                     why.substr(why.find("undefined symbol"))));
  fail(name, fmt::format("expected a shared library, found another: {}", why));
}

/// What loading it and asking it for its kernel does to a process; empty: nothing.
std::string harm_of(const std::string& library, int patience) {
  constexpr int survived = 42;
  const pid_t child = fork();
  if (child < 0) return "";
  if (child == 0) {
    for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(unsigned(patience));
    void* const loaded = load(library);
    const auto ask = loaded ? reinterpret_cast<Function>(dlsym(loaded, function)) : nullptr;
    if (ask) ask();
    _exit(survived);
  }
  const int status = wait_for(child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("it was not loaded within {} s", patience);
  if (WIFSIGNALED(status))
    return fmt::format("it crashed as it was loaded (SIG{}: {})", sigabbrev_np(WTERMSIG(status)),
                       strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == survived
             ? ""
             : fmt::format("it ended its process with code {} as it was loaded", WEXITSTATUS(status));
}

/// A structure of whatever size it was when the plugin was compiled. What it lacks is zero; what this version does not know must be.
lasolve_kernel copied(const lasolve_kernel* record, const std::string& name) {
  lasolve_kernel kernel{};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(record);
  const std::size_t size = record->size;
  if (size < offsetof(lasolve_kernel, f64_roundoff) || size > 4096)
    fail(name, "expected a record that begins with LASOLVE_KERNEL_INIT, found another size");
  for (std::size_t i = sizeof kernel; i < size; ++i)
    if (bytes[i] != 0) fail(name, fmt::format("it wants what lasolve {} does not have yet", version()));
  std::memcpy(&kernel, record, std::min(size, sizeof kernel));
  return kernel;
}

bool is_word(const char* text) {
  return text && *text && std::strlen(text) < 100 &&
         std::none_of(text, text + std::strlen(text), [](char c) { return c == ',' || (c > 0 && c < ' '); });
}

void require_sizes(const lasolve_kernel& k, const std::string& name) {
  lasolve_int all = 1;  // of which a square kernel takes multiples
  for (const auto& [size, multiple, largest] : {std::tuple("m", k.m_multiple, k.m_largest),
                                                {"n", k.n_multiple, k.n_largest},
                                                {"k", k.k_multiple, k.k_largest}}) {
    if (multiple < 0 || multiple > 1024) fail(name, fmt::format("expected multiples of 0 to 1024, found {}", multiple));
    all = std::lcm(all, std::max<lasolve_int>(multiple, 1));
    const lasolve_int least = k.limits & LASOLVE_KERNEL_SQUARE ? all : std::max<lasolve_int>(multiple, 1);
    if (largest != 0 && largest < least)
      fail(name, fmt::format("expected a {0}_largest of 0 or from {1}, of which {0} is a multiple; found {2}", size,
                             least, largest));
  }
  if ((k.limits & LASOLVE_KERNEL_SQUARE) && all > 4096)
    fail(name, fmt::format("expected multiples with one in common for square matrices; the least is {}", all));
  if (k.alignment < 0 || k.alignment > 4096 || (k.alignment & (k.alignment - 1)) != 0)
    fail(name, fmt::format("expected an alignment of 0 or a power of two up to 4096, found {}", k.alignment));
}

void require_roundoff(double declared, Precision precision, const std::string& name) {
  if (declared != 0 && !(declared >= unit_roundoff_of(precision) && declared <= 0.5))
    fail(name, fmt::format("expected a unit roundoff of 0 or from {:.3g} to 0.5 in {}, found {}",
                           unit_roundoff_of(precision), name_of(precision), declared));
}

}  // namespace

lasolve_kernel checked(const lasolve_kernel* record, const std::string& name) {
  if (!record) fail(name, fmt::format("expected a record from {}(), found NULL", function));
  if (record->abi != LASOLVE_KERNEL_ABI)
    fail(name,
         fmt::format("expected version {} of lasolve/kernel.h, found {}: compile it with the header of lasolve {}",
                     LASOLVE_KERNEL_ABI, record->abi, version()));
  const lasolve_kernel kernel = copied(record, name);
  constexpr unsigned known = 2 * LASOLVE_KERNEL_SQUARE - 1, both = LASOLVE_KERNEL_ASSIGNS | LASOLVE_KERNEL_ADDS;
  if (!is_word(kernel.name)) fail(name, "expected a name of up to 99 characters without commas, found another");
  int memory = 0;  // an enumeration is not known to have one of its values
  std::memcpy(&memory, &kernel.memory, sizeof kernel.memory);
  if (memory != LASOLVE_HOST && memory != LASOLVE_CUDA)
    fail(name, fmt::format("expected LASOLVE_HOST or LASOLVE_CUDA as memory, found {}", memory));
  if (!kernel.f64 && !kernel.f32) fail(name, "expected a function as f64 or f32, found none");
  if (kernel.limits & ~known)
    fail(name, fmt::format("its limits have {}, which lasolve {} does not know", kernel.limits & ~known, version()));
  if ((kernel.limits & both) == both) fail(name, "expected LASOLVE_KERNEL_ASSIGNS or LASOLVE_KERNEL_ADDS, found both");
  require_sizes(kernel, name);
  require_roundoff(kernel.f64_roundoff, Precision::fp64, name);
  require_roundoff(kernel.f32_roundoff, Precision::fp32, name);
  return kernel;
}

Plugin load_plugin(const std::string& library, const std::string& name, int patience) {
  if (access(library.c_str(), R_OK) != 0) fail(name, fmt::format("cannot open: {}", std::strerror(errno)));
  if (const std::string harm = harm_of(library, patience); !harm.empty()) fail(name, harm);
  const KeptFloatState kept;
  void* const loaded = load(library);
  if (!loaded) fail_to_load(name, dlerror());
  const auto ask = reinterpret_cast<Function>(dlsym(loaded, function));
  if (!ask)
    fail(name, fmt::format("expected a function {}(), found none: lasolve/kernel.h has it, and 'lasolve new-kernel' "
                           "writes one",
                           function));
  const lasolve_kernel* const record = ask();
  Plugin plugin{checked(record, name), reinterpret_cast<WhyFailed>(dlsym(loaded, "lasolve_plugin_error"))};
  if (const char* const left = kept.difference())
    plugin.note = fmt::format("as it was loaded it left {}, which was put back", left);
  return plugin;
}

}  // namespace lasolve::plugin
