// What a CUDA device has, as one value, which all that depends on the device asks. No CUDA is needed to read it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace lasolve {

/// Bytes of shared memory that a block can have on every device of compute capability 8.0 or later: those of 8.6, 8.9 and 12.x
/// have no more. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::size_t least_shared_memory = 99 << 10;

struct DeviceProperties {
  int capability = 0;              ///< compute capability, 10·major + minor; 0: the device does not say
  int code = 0;                    ///< for which capability the code that it runs was compiled; 0: there is none
  bool runs_code_for_90a = false;  ///< with wgmma, the copy engine and registers that move, which only Hopper has
  int multiprocessors = 0;
  std::size_t shared_memory = 0;  ///< bytes that a block can have, when it asks for them
  std::size_t shared_memory_of_multiprocessor = 0;
  std::size_t kept_shared_memory = 0;  ///< bytes that CUDA takes of those of the multiprocessor for each block
  int largest_cluster = 1;             ///< blocks; more than 8 are not portable
  bool cooperative = false;            ///< all blocks of a kernel can run at the same time
  int fp32_per_fp64 = 0;               ///< operations of fp32 in the time of one of fp64
  bool pretended = false;              ///< the real device has more: launches must keep to this by themselves

  bool has_clusters_of(int blocks) const { return blocks <= largest_cluster; }
  /// Whether a kernel can be put on the device before the one in front of it ends, and its code waits for that.
  bool can_begin_early() const { return std::min(capability, code) >= 90; }

  /// How many blocks of a cooperative launch may wait for each other, one on a multiprocessor. Some multiprocessors are left free,
  /// for a kernel that does not end: with all of them, such a grid could never begin.
  int cooperative_blocks() const { return std::max(multiprocessors - std::max(multiprocessors / 32, 1), 1); }

  bool operator==(const DeviceProperties&) const = default;
};

/// How many blocks a cluster can have where the device has clusters at all. Code for 8.x has no instruction for them.
/// Source: CUDA C++ Programming Guide, "Thread Block Clusters": 8 are portable, Hopper has 16, as has 10.x.
inline int largest_cluster_of(int capability, int code) {
  if (std::min(capability, code) < 90) return 1;
  return capability < 110 ? 16 : 8;
}

/// An H200, or another card that pretend() knows. Throws std::invalid_argument for others.
DeviceProperties card(const std::string& name);
/// All of these.
std::vector<std::string> card_names();

/// What `real` would be as another card: with at most what that has. For tests. name: a100, rtx4090, rtx5090, mig-1g, or empty,
/// which is the device itself. Throws std::invalid_argument for others.
DeviceProperties pretend(DeviceProperties real, const std::string& name);

/// Those of a device, asked once. All zero where there is no such device, or it cannot be used now. In a build with
/// LASOLVE_TEST_HOOKS the environment variable LASOLVE_PRETEND names what it pretends to be, of all devices or of each: "a100", ",a100".
const DeviceProperties& device_properties(int device);

}  // namespace lasolve
