#include "core/cuda_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace lasolve {

namespace {

std::string dotted(int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }
std::string cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string name_of(const Architecture& a) {
  return dotted(a.capability) + (a.variant ? std::string(1, a.variant) : "");
}

/// Whether code for an architecture runs on a device: PTX on all later ones, machine code on those of the same major number.
bool runs_on(const Architecture& a, int capability, bool as_ptx) {
  const bool same_family = capability / 10 == a.capability / 10;
  if (a.variant == 'a') return capability == a.capability;
  return capability >= a.capability && (same_family || (as_ptx && a.variant != 'f'));
}

}  // namespace

std::vector<Architecture> architectures_of(const std::string& names) {
  std::string separated = names;
  std::replace(separated.begin(), separated.end(), ';', ' ');
  std::istringstream words(separated);
  std::vector<Architecture> all;
  for (std::string word; words >> word;) {
    const std::size_t digits =
        std::find_if_not(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }) - word.begin();
    if (digits < 2 || digits > 3) continue;
    Architecture a{.capability = std::stoi(word)};
    std::string rest = word.substr(digits);
    if (rest.starts_with('a') || rest.starts_with('f')) a.variant = rest[0], rest.erase(0, 1);
    a.machine_code = rest.empty() || rest == "-real", a.ptx = rest.empty() || rest == "-virtual";
    if (a.machine_code || a.ptx) all.push_back(a);
  }
  return all;
}

std::string in_words(const std::vector<Architecture>& all) {
  std::vector<std::string> machine, ptx;
  for (const Architecture& a : all) {
    if (a.machine_code) machine.push_back(name_of(a));
    if (a.ptx) ptx.push_back(name_of(a));
  }
  const std::string of_ptx = ptx.empty() ? "" : fmt::format("PTX of {}", fmt::join(ptx, ", "));
  return fmt::format("{}{}{}", fmt::join(machine, ", "), machine.empty() || ptx.empty() ? "" : " and ", of_ptx);
}

DeviceCode code_for(int capability, const std::vector<Architecture>& all, bool driver_compiles) {
  DeviceCode best = DeviceCode::none;
  for (const Architecture& a : all) {
    if (a.machine_code && runs_on(a, capability, false)) return DeviceCode::machine;
    if (a.ptx && driver_compiles && runs_on(a, capability, true)) best = DeviceCode::ptx;
  }
  return best;
}

std::string why_no_code(int capability, const std::vector<Architecture>& all, CudaVersions versions) {
  if (all.empty() || code_for(capability, all, versions.driver_compiles()) != DeviceCode::none) return "";
  const std::string has =
      fmt::format("has compute capability {}, and this build has code for {}", dotted(capability), in_words(all));
  if (capability < least_capability) return has + fmt::format("; lasolve needs {} or later", dotted(least_capability));
  if (code_for(capability, all) == DeviceCode::ptx)
    return has + fmt::format("; the driver, for CUDA {}, is too old to compile PTX of CUDA {}",
                             cuda_version(versions.driver), cuda_version(versions.toolkit));
  return has + fmt::format("; build with {} in LASOLVE_CUDA_ARCHITECTURES, or any from {} on that it runs", capability,
                           least_capability);
}

std::string explain(const NoDevices& no) {
  const auto& [kind, error, versions, visible] = no;
  if (versions.driver == 0) return "this machine has no CUDA driver";
  if (kind == NoDevices::too_old)  // all drivers of a major version run all of its toolkits
    return fmt::format("the CUDA driver is for CUDA {}, and this build needs one for CUDA {}.0 or later",
                       cuda_version(versions.driver), versions.toolkit / 1000);
  if (kind == NoDevices::failed) return fmt::format("CUDA cannot be used: {}", error);
  if (visible) return fmt::format("no CUDA device is visible: CUDA_VISIBLE_DEVICES is '{}'", *visible);
  return "this machine has no CUDA device";
}

}  // namespace lasolve
