#include "tuned/combine.hpp"

#include "core/choose.hpp"

namespace lasolve::tuned {

namespace {

ChosenBackend chosen(const std::string& name, const Device& device) {
  Options options;
  options.gemm = name, options.device = device;
  return choose(options).backend;
}

}  // namespace

GemmChoice gemm_of(const Setting& setting, const Device& device, Record& record) {
  if (setting.small.empty()) return setting.gemm;
  const ChosenBackend large = chosen(setting.gemm, device), small = chosen(setting.small, device);
  require(large.index() == small.index(), "two backends for one solve, but at two places");
  return std::visit(
      [&]<class Place>(const GemmBackend<Place>* b) -> GemmChoice {
        GemmBackend<Place>& both = record.emplace<GemmBackend<Place>>(*b);
        both.small = std::get<const GemmBackend<Place>*>(small), both.small_below = setting.small_below;
        return &both;
      },
      large);
}

}  // namespace lasolve::tuned
