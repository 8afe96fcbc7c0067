#include "compare/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compare/attribution.hpp"
#include "compare/record.hpp"
#include "lasolve/names.hpp"

namespace lasolve::compare {

std::string as_trace(const Comparison& all) {
  Json events = Json::array();
  const auto name = [&](const char* what, int process, int thread, const std::string& word) {
    events.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", word}}}});
  };
  int process = 0;
  for (const Row& r : all.rows) {
    if (r.tasks.empty()) continue;
    ++process;
    name("process_name", process, 0, fmt::format("{}, n = {}, {}", r.key.gemm, r.key.n, r.key.precision));
    std::vector<std::string> lanes;  // tasks of one phase overlap where there are several
    for (const TaskTime& t : r.tasks)
      if (std::find(lanes.begin(), lanes.end(), t.lane) == lanes.end()) lanes.push_back(t.lane);
    std::sort(lanes.begin(), lanes.end());
    const auto thread_of = [&](const TaskTime& t) {
      return lanes.size() == 1 ? int(t.phase) : int(std::find(lanes.begin(), lanes.end(), t.lane) - lanes.begin());
    };
    if (lanes.size() == 1) {
      for (std::size_t p = 0; p < phase_count; ++p)
        if (r.phases.seconds[p] > 0) name("thread_name", process, int(p), name_of(Phase(p)));
    } else {
      for (std::size_t l = 0; l < lanes.size(); ++l) name("thread_name", process, int(l), lanes[l]);
    }
    for (const TaskTime& t : r.tasks) {
      Json about = {{"block", t.block}, {"flops", t.flops}, {"gflops", t.seconds > 0 ? 1e-9 * t.flops / t.seconds : 0}};
      if (is_update(t)) about.update({{"m", t.m}, {"n", t.n}, {"k", t.k}});
      events.push_back({{"ph", "X"},
                        {"name", t.what},
                        {"cat", name_of(t.phase)},
                        {"pid", process},
                        {"tid", thread_of(t)},
                        {"ts", 1e6 * t.begin},
                        {"dur", 1e6 * t.seconds},
                        {"args", about}});
    }
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

}  // namespace lasolve::compare
