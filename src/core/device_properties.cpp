#include "core/device_properties.hpp"

#include <stdexcept>

#include "core/range.hpp"

namespace lasolve {

namespace {

/// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the cards' data sheets.
struct Card {
  const char* name;
  int capability, multiprocessors;
  std::size_t shared_memory_of_multiprocessor;
  int fp32_per_fp64, largest_cluster;
};
constexpr Card cards[] = {
    {"a100", 80, 108, 164 << 10, 2, 1},
    {"rtx4090", 89, 128, 100 << 10, 64, 1},
    {"rtx5090", 120, 170, 100 << 10, 64, 8},
    {"mig-1g", 90, 16, 228 << 10, 2, 1},  // a seventh of an H100 or H200
};

constexpr DeviceProperties h200{.capability = 90,
                                .code = 90,
                                .runs_code_for_90a = true,
                                .multiprocessors = 132,
                                .shared_memory = 227 << 10,
                                .shared_memory_of_multiprocessor = 228 << 10,
                                .kept_shared_memory = 1 << 10,
                                .largest_cluster = 16,
                                .cooperative = true,
                                .fp32_per_fp64 = 2};

}  // namespace

DeviceProperties card(const std::string& name) { return name == "h200" ? h200 : pretend(h200, name); }

std::vector<std::string> card_names() {
  std::vector<std::string> names = {"h200"};
  for (const Card& known : cards) names.push_back(known.name);
  return names;
}

DeviceProperties pretend(DeviceProperties real, const std::string& name) {
  if (name.empty()) return real;
  const auto* const found = find_in(cards, [&](const Card& c) { return c.name == name; });
  if (!found)
    throw std::invalid_argument("LASOLVE_PRETEND is " + name + ", and can be a100, rtx4090, rtx5090 or mig-1g");
  DeviceProperties p = real;
  p.pretended = true;
  p.capability = std::min(real.capability, found->capability);
  p.code = p.capability < 90 ? std::min(real.code, 80) : real.code;
  p.runs_code_for_90a = real.runs_code_for_90a && found->capability == 90;
  p.multiprocessors = std::min(real.multiprocessors, found->multiprocessors);
  p.shared_memory_of_multiprocessor =
      std::min(real.shared_memory_of_multiprocessor, found->shared_memory_of_multiprocessor);
  p.shared_memory = std::min(real.shared_memory, p.shared_memory_of_multiprocessor - p.kept_shared_memory);
  p.largest_cluster = std::min(real.largest_cluster, found->largest_cluster);
  p.fp32_per_fp64 = std::max(real.fp32_per_fp64, found->fp32_per_fp64);
  return p;
}

}  // namespace lasolve
