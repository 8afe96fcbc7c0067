#include "tuned/combine.hpp"

#include <algorithm>
#include <forward_list>
#include <mutex>

#include "core/choose.hpp"

namespace lasolve::tuned {

namespace {

template <class Place>
GemmChoice combined(const GemmBackend<Place>& large, const GemmBackend<Place>& small, double below) {
  static std::mutex mutex;
  static std::forward_list<GemmBackend<Place>> made;
  const std::lock_guard lock(mutex);
  const auto same = std::find_if(made.begin(), made.end(), [&](const GemmBackend<Place>& b) {
    return b.name == large.name && b.small == &small && b.small_below == below;
  });
  if (same != made.end()) return &*same;
  made.push_front(large);
  made.front().small = &small, made.front().small_below = below;
  return &made.front();
}

ChosenBackend chosen(const std::string& name, const Device& device) {
  Options options;
  options.gemm = name, options.device = device;
  return choose(options).backend;
}

}  // namespace

GemmChoice gemm_of(const Setting& setting, const Device& device) {
  if (setting.small.empty()) return setting.gemm;
  const ChosenBackend large = chosen(setting.gemm, device), small = chosen(setting.small, device);
  require(large.index() == small.index(), "two backends for one solve, but at two places");
  return std::visit(
      [&]<class Place>(const GemmBackend<Place>* b) -> GemmChoice {
        return combined(*b, *std::get<const GemmBackend<Place>*>(small), setting.small_below);
      },
      large);
}

}  // namespace lasolve::tuned
