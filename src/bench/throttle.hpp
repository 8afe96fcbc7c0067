// Whether a clock was held down while something ran: by heat, or by a limit of power.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/stopwatch.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

/// Of some runs together.
struct Slowed {
  double seconds = 0, held_seconds = 0;  ///< all, and those during which a clock was held down

  double share() const { return seconds > 0 ? std::min(1.0, held_seconds / seconds) : 0; }
};

/// What clocks were seen, in MHz; 0: none.
struct Clocks {
  unsigned least = 0, most = 0;

  void add(unsigned mhz);
  bool operator==(const Clocks&) const = default;
};

/// Asks a device before and after runs. One that does not tell is not asked.
class Throttle {
 public:
  /// Processors that count how often heat slowed them, as Intel's do. They do not count how long: a run in which it happened counts
  /// whole. Source: Linux, drivers/thermal/intel/therm_throt.c.
  static Throttle of_cpu(const std::string& folder = "/sys/devices/system/cpu");
  /// A CUDA device, by NVIDIA's Management Library. It counts how long power or heat held the clock down; the longer of the two counts,
  /// since they may be the same time. Where it does not, a run before or after which the clock is held down counts whole.
  static Throttle of_cuda(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  /// That of a device of this machine.
  static Throttle of(Device);

  bool is_known() const { return bool(ask_); }
  void begin();
  /// Adds what was since begin().
  void end(Slowed&);
  /// Of the multiprocessors of a CUDA device, as seen by end().
  Clocks clocks() const { return clocks_; }

 private:
  struct State {
    std::uint64_t times = 0;           // that it was slowed
    double by_power = 0, by_heat = 0;  // seconds
    bool is_held = false;              // now
    unsigned mhz = 0;                  // 0: not known
  };
  struct Nvml;

  std::function<State()> ask_;
  State before_;
  Stopwatch watch_;
  Clocks clocks_;
};

}  // namespace lasolve::bench
