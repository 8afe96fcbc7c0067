#include "bench/crossover.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lasolve::bench {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Fastest {
  double cpu = never, cuda = never;
};

}  // namespace

std::vector<Crossover> crossovers(const std::vector<Result>& all) {
  using Sweep = std::tuple<std::string, std::int64_t, Precision>;
  std::map<Sweep, std::map<std::int64_t, Fastest>> sweeps;
  for (const Result& r : all) {
    const Product& p = r.product;
    if (r.runs == 0 || p.shape == "given") continue;
    Fastest& fastest = sweeps[{p.shape, p.shape == "square" ? 0 : p.k, r.precision}][p.n];
    double& seconds = r.on_cuda() ? fastest.cuda : fastest.cpu;
    seconds = std::min(seconds, r.seconds.median);
  }
  std::vector<Crossover> found;
  for (auto& [sweep, sizes] : sweeps) {
    std::erase_if(sizes, [](const auto& size) { return size.second.cpu == never || size.second.cuda == never; });
    if (sizes.empty()) continue;
    std::optional<std::int64_t> from;
    for (auto size = sizes.rbegin(); size != sizes.rend() && size->second.cuda < size->second.cpu; ++size)
      from = size->first;
    found.push_back({std::get<0>(sweep), std::get<1>(sweep), std::get<2>(sweep), from});
  }
  return found;
}

}  // namespace lasolve::bench
