#include "tuned/setting.hpp"

#include "core/choose.hpp"

namespace lasolve::tuned {

static ChosenBackend chosen(const std::string& name, const Device& device) {
  Options options;
  options.gemm = name, options.device = device;
  return choose(options).backend;
}

GemmChoice gemm_of(const Setting& setting, const Device& device, Record& record) {
  if (setting.small.empty()) return setting.gemm;
  const ChosenBackend large = chosen(setting.gemm, device), small = chosen(setting.small, device);
  require(large.index() == small.index(), "two backends for one solve, but on two devices");
  return std::visit(
      [&]<class Space>(const GemmBackend<Space>* b) -> GemmChoice {
        GemmBackend<Space>& both = record.emplace<GemmBackend<Space>>(*b);
        both.small = std::get<const GemmBackend<Space>*>(small), both.small_below = setting.small_below;
        return &both;
      },
      large);
}

}  // namespace lasolve::tuned
