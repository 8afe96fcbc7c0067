#include "lapack/settings.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/choose.hpp"
#include "core/process.hpp"
#include "core/sizes.hpp"
#include "lapack/counted.hpp"
#include "lasolve/names.hpp"

namespace lasolve::lapack {

namespace {

/// Measured on an AMD EPYC, on one thread beside OpenBLAS: at n = 16 they are alike, from here on ours takes 0.7 of the time.
constexpr std::int64_t default_crossover = 64;
/// Measured on an H100 beside 16 cores of its host: docs/lapack-drop-in.md.
constexpr std::int64_t default_device_crossover = 768;

/// The object of the program that an address is in; null: none.
const void* object_of(const void* address) {
  Dl_info info;
  return address && dladdr(address, &info) ? info.dli_fbase : nullptr;
}
bool is_ours(const void* address) { return object_of(address) == object_of(reinterpret_cast<const void*>(&settings)); }

const char* word(const char* name, const char* by_default) {
  const char* const text = std::getenv(name);
  return text && *text ? text : by_default;
}

/// Throws std::invalid_argument for what is no number of at least `least`.
std::int64_t number(const char* name, std::int64_t by_default, std::int64_t least) {
  const char* const text = word(name, nullptr);
  if (!text) return by_default;
  const auto value = whole_number(text);
  if (!value || *value < least)
    throw std::invalid_argument(std::string(name) + " takes a whole number of at least " + std::to_string(least) +
                                ", not '" + text + "'");
  return *value;
}

/// Integers of 64 bits under the names of those of 32: nothing in a call says which it has.
std::string why_not_this_program() {
  for (const char* const library : {"liblapack64.so.3", "libblas64.so.3", "libopenblas64.so.0"})
    if (void* const there = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      dlclose(there);
      return std::string("this program uses ") + library +
             ", which has integers of 64 bits under the names of those of 32 bits: its calls are left alone";
    }
  return "";
}

void refuse(const std::string& why) {
  std::snprintf(tally().refused, sizeof tally().refused, "%s", why.c_str());
  std::fprintf(stderr, "lasolve: %s\n", why.c_str());
}

Device device_named() {
  const char* const text = word("LASOLVE_DEVICE", "cpu");
  if (const auto device = parse_device(text)) return *device;
  throw std::invalid_argument(std::string("LASOLVE_DEVICE takes cpu, cuda, cuda:INDEX or auto, not '") + text + "'");
}

Settings read() {
  Settings all;
  try {
    all.gemm = word("LASOLVE_GEMM", "auto");
    all.device = device_named();
    all.device_crossover = number("LASOLVE_DEVICE_CROSSOVER", default_device_crossover, 0);
    all.crossover = number("LASOLVE_CROSSOVER", default_crossover, 0);
    all.block_size = number("LASOLVE_BLOCK_SIZE", 0, 0);
    all.threads = int(number("LASOLVE_THREADS", 0, 0));
    all.refused = why_not_this_program();
  } catch (const std::exception& e) {
    all.refused = e.what();
  }
  tally().crossover = all.crossover;
  if (!all.refused.empty()) refuse(all.refused);
  return all;
}

/// The word of a device's backend is none for the CPU, which then does what the device does not with its fastest.
Choice chosen_on_cpu() {
  const Device cpu{Device::cpu, 0};
  try {
    return choose({.gemm = settings().gemm, .device = cpu});
  } catch (const NotHere&) {
    if (settings().device.kind == Device::cpu) throw;
    return choose({.device = cpu});
  }
}

const GemmBackend<Cpu>* chosen_backend() {
  try {
    static const GemmBackend<Cpu> its = counted(*std::get<0>(chosen_on_cpu().backend));
    std::snprintf(tally().gemm, sizeof tally().gemm, "%s", its.name);
    return &its;
  } catch (const std::exception& e) {
    refuse(std::string("LASOLVE_GEMM: ") + e.what());
    return nullptr;
  }
}

/// Null where it is a library that has it, which knows nothing of our panels.
void* ilaenv_of_the_program() {
  void* const found = dlsym(RTLD_DEFAULT, "ilaenv_");
  const auto* const entry = reinterpret_cast<const void*>(getauxval(AT_ENTRY));
  return found && object_of(found) == object_of(entry) ? found : nullptr;
}

}  // namespace

const Settings& settings() {
  constinit static NeverDestroyed<const Settings> all;
  return all.get(read);
}

const GemmBackend<Cpu>* backend() {
  constinit static NeverDestroyed<const GemmBackend<Cpu>* const> chosen;
  return chosen.get(chosen_backend);
}

const GemmBackend<Cpu>& products() { return backend() ? *backend() : *gemm_backends<Cpu>().front(); }

std::int64_t block_size_of(const char* routine, bool is_double, std::int64_t m, std::int64_t n) {
  if (settings().block_size > 0) return settings().block_size;
  static void* const found = ilaenv_of_the_program();
  if (!found) return 0;
  const auto ilaenv = reinterpret_cast<int (*)(const int*, const char*, const char*, const int*, const int*, const int*,
                                               const int*, std::size_t, std::size_t)>(found);
  const std::string name = (is_double ? "D" : "S") + std::string(routine);
  const int block_size_is_asked = 1, rows = int(m), columns = int(n), none = -1;
  return std::max(1, ilaenv(&block_size_is_asked, name.c_str(), " ", &rows, &columns, &none, &none, name.size(), 1));
}

void* function_of_others(const char* name, const void* caller) {
  for (void* const place : {RTLD_DEFAULT, RTLD_NEXT})
    if (void* const found = dlsym(place, name); found && !is_ours(found)) return found;
  const auto among = [&](const char* library, int how) -> void* {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | how);  // never closed, so that what is found stays
    void* const found = handle ? dlsym(handle, name) : nullptr;
    return found && !is_ours(found) ? found : nullptr;
  };
  Dl_info info;
  if (caller && dladdr(caller, &info) && info.dli_fname)  // what Python has loaded is known to itself alone
    if (void* const found = among(info.dli_fname, RTLD_NOLOAD)) return found;
  return among("liblapack.so.3", 0);
}

}  // namespace lasolve::lapack
