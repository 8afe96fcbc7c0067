#include "bench/throttle.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <list>
#include <memory>

#include "core/cuda_devices.hpp"
#include "io/descriptor.hpp"

namespace lasolve::bench {

namespace fs = std::filesystem;

void Clocks::add(unsigned mhz) {
  if (mhz == 0) return;
  least = least == 0 ? mhz : std::min(least, mhz);
  most = std::max(most, mhz);
}

namespace {

constexpr std::size_t most_open = 256;  // files, of the 1024 that a process often may have

/// A number in a file of Linux that changes. The file stays open, since to open hundreds between short runs takes longer than these;
/// or it is opened each time.
class Count {
 public:
  Count(const fs::path& path, bool stays_open)
      : path_(path), file_(stays_open ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1) {}

  std::uint64_t value() const {
    if (!file_.is_open()) return read(io::Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC)));
    return read(file_);
  }

 private:
  static std::uint64_t read(const io::Descriptor& file) {
    char text[32];
    const ssize_t length = file.is_open() ? pread(file.number(), text, sizeof text, 0) : 0;
    std::uint64_t value = 0;
    if (length > 0) std::from_chars(text, text + length, value);
    return value;
  }

  fs::path path_;
  io::Descriptor file_;
};

}  // namespace

Throttle Throttle::of_cpu(const std::string& folder) {
  const auto counts = std::make_shared<std::list<Count>>();
  std::error_code error;
  for (fs::directory_iterator processor(folder, error), end; !error && processor != end; processor.increment(error))
    for (const char* const of : {"core", "package"}) {
      std::error_code missing;
      const fs::path count = processor->path() / "thermal_throttle" / (of + std::string("_throttle_count"));
      if (fs::exists(count, missing)) counts->emplace_back(count, counts->size() < most_open);
    }
  Throttle throttle;
  if (counts->empty()) return throttle;
  throttle.ask_ = [counts] {
    State now;
    for (const Count& count : *counts) now.times += count.value();
    return now;
  };
  return throttle;
}

/// What is asked of the library, as it declares it. Source: NVIDIA, NVML API Reference Guide; nvml.h.
struct Throttle::Nvml {
  using Handle = struct nvmlDevice_st*;
  struct Violation {
    unsigned long long reference_microseconds = 0, nanoseconds = 0;
  };
  static constexpr int success = 0, power = 0, thermal = 1, sm_clock = 1;
  /// Software's limit of power and of heat, hardware's slowdown, its limit of heat, and its brake for power.
  static constexpr unsigned long long held_down = 0x4 | 0x20 | 0x8 | 0x40 | 0x80;

  int (*init)() = nullptr;
  int (*find)(const char* pci_bus_id, Handle*) = nullptr;
  int (*violation)(Handle, int policy, Violation*) = nullptr;
  int (*reasons)(Handle, unsigned long long*) = nullptr;
  int (*clock)(Handle, int type, unsigned* mhz) = nullptr;

  /// Null where there is no such library. It stays loaded, as threads of its own may run.
  explicit Nvml(const std::string& name) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const auto look_up = [&](const char* function, auto& found) {
      if (library) found = reinterpret_cast<std::decay_t<decltype(found)>>(dlsym(library, function));
    };
    look_up("nvmlInit_v2", init), look_up("nvmlDeviceGetHandleByPciBusId_v2", find);
    look_up("nvmlDeviceGetViolationStatus", violation), look_up("nvmlDeviceGetClockInfo", clock);
    look_up("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
  }

  std::optional<double> seconds_held(Handle device, int policy) const {
    Violation v;
    if (!violation || violation(device, policy, &v) != success) return std::nullopt;
    return 1e-9 * double(v.nanoseconds);
  }
  /// Nothing where the device does not tell.
  std::optional<State> ask(Handle device) const {
    State now;
    const auto by_power = seconds_held(device, power), by_heat = seconds_held(device, thermal);
    now.by_power = by_power.value_or(0), now.by_heat = by_heat.value_or(0);
    if (!by_power && !by_heat) {
      unsigned long long why = 0;
      if (!reasons || reasons(device, &why) != success) return std::nullopt;
      now.is_held = (why & held_down) != 0;
    }
    if (clock && clock(device, sm_clock, &now.mhz) != success) now.mhz = 0;
    return now;
  }
};

Throttle Throttle::of_cuda(const std::string& pci_bus_id, const std::string& library) {
  const Nvml nvml(library);
  Nvml::Handle device = nullptr;
  Throttle throttle;
  if (!nvml.init || !nvml.find || nvml.init() != Nvml::success) return throttle;
  if (nvml.find(pci_bus_id.c_str(), &device) != Nvml::success || !nvml.ask(device)) return throttle;
  throttle.ask_ = [nvml, device] { return nvml.ask(device).value_or(State()); };
  return throttle;
}

Throttle Throttle::of(Device device) {
  return device.kind == Device::cuda ? of_cuda(pci_bus_id(device.index)) : of_cpu();
}

void Throttle::begin() {
  if (!ask_) return;
  before_ = ask_();
  watch_ = Stopwatch();
}

void Throttle::end(Slowed& runs) {
  if (!ask_) return;
  const double seconds = watch_.seconds();
  const State now = ask_();
  const bool whole = now.times > before_.times || now.is_held || before_.is_held;
  const double held = std::max({0.0, now.by_power - before_.by_power, now.by_heat - before_.by_heat});
  runs.seconds += seconds;
  runs.held_seconds += whole ? seconds : held;
  clocks_.add(now.mhz);
}

}  // namespace lasolve::bench
