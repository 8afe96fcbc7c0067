// How long blocks of a kernel wait for each other, and what the host is told when that was in vain.
#pragma once

#include <cstdint>
#include <string>

namespace lasolve {

/// What a block waits for that others of its grid have to do.
enum class Awaited : unsigned {
  nothing,
  candidate,          ///< of a block, for the next pivot of a panel
  rest_of_candidate,  ///< of a step of a panel
  pivot_row,          ///< the same
  panel,              ///< all blocks of a panel
  unknowns,           ///< of a block of a triangular solve
  part_of_U,          ///< from the solvers between two panels
};

/// Memory of the host that the device reads and writes, one of each queue.
struct WaitLimit {
  static constexpr double usual_seconds = 60, seconds_a_tick = 0x1p20 * 1e-9;

  /// How long a wait may take, in 2²⁰ ns. Others may hold the device for some 20 ms at a time, and sanitizers slow it down a
  /// hundredfold.
  std::uint64_t ticks;
  /// Zero, or the wait that took longer, in one word, so that it is written at once.
  std::uint64_t expired;

  static constexpr std::uint64_t word(Awaited what, unsigned which, unsigned of) {
    return std::uint64_t(what) << 56 | std::uint64_t(which & 0xfffffff) << 28 | (of & 0xfffffff);
  }
  bool has_expired() const { return *const_cast<const volatile std::uint64_t*>(&expired) != 0; }
  /// What was waited for, for how long, and what may be the cause.
  std::string complaint() const;
};

/// One for as long as this lives. Pinning memory stops a device for a moment, so those that were given back are used again.
class OwnedWaitLimit {
 public:
  OwnedWaitLimit();
  ~OwnedWaitLimit();
  OwnedWaitLimit(const OwnedWaitLimit&) = delete;
  OwnedWaitLimit& operator=(const OwnedWaitLimit&) = delete;
  WaitLimit* get() const { return limit_; }
  /// The usual time, and nothing that has expired.
  void reset() { *limit_ = {std::uint64_t(WaitLimit::usual_seconds / WaitLimit::seconds_a_tick), 0}; }

 private:
  WaitLimit* limit_;
};

}  // namespace lasolve
