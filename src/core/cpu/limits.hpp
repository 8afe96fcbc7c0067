// What the machine, cgroups and resource limits leave to this process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lasolve {

/// Reads limits from the files of a Linux system below `root`, so that tests can show it other systems than this one.
/// Which cgroups the process is in is read once; what they allow at each call.
class Limits {
 public:
  explicit Limits(const std::string& root);

  /// Bytes that an allocation could have now: the least of what the machine has, what is left of the memory limits of all
  /// cgroups above the process (version 1 and 2), and of RLIMIT_AS and RLIMIT_DATA.
  std::size_t free_memory() const;

  /// How many processors cgroups grant time of, rounded up; at most `processors`.
  int granted_processors(int processors) const;

 private:
  std::string proc_;                            // "/proc/"
  std::vector<std::string> memory1_, memory2_;  // folders of cgroups, from our own upwards
  std::vector<std::string> cpu1_, cpu2_;
};

/// Of this system.
const Limits& limits();

/// From now on, allocations of this process are at most so many bytes together (RLIMIT_DATA); what would take more fails.
void limit_memory(std::size_t bytes);

/// The processors that this process may keep busy: those it may run on now, and no more than cgroups granted it time of a tenth of a
/// second ago.
int usable_processors();

}  // namespace lasolve
