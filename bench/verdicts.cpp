// How often the verdicts of `lasolve compare --baseline` are wrong, and how often they find a slowdown of 3 %: on times that are made
// up, without a clock, so the same on each machine. Usage: verdicts [PAIRS]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bench/device_model.hpp"
#include "bench/machine_model.hpp"

namespace {

using namespace lasolve::bench;
using lasolve::compare::DeviceModel;

/// Backends of a size on a CUDA device.
void print_devices(int pairs) {
  const std::pair<const char*, DeviceModel> devices[] = {
      {"runs differ by 0.5 %", {}},
      {"by 1 %", {.run = 0.01}},
      {"0.5 %, visits and sessions by 0.3 %", {.visit = 0.003, .session = 0.003}},
      {"0.5 %, visits by 1 %", {.visit = 0.01}},
      {"0.5 %, visits by 1 %, sessions by 1 %", {.visit = 0.01, .session = 0.01}},
      {"0.5 %, visits by 0.7 %, sessions by 1 %", {.visit = 0.007, .session = 0.01}},
      {"0.5 %, visits and sessions by 0.3 %, launches by 2 %", {.visit = 0.003, .session = 0.003, .shown = 0.02}},
      {"0.5 %, launches by 10 %, of visits by 12 %, share 3 %", {.shown = 0.1, .launches = 0.12, .share = 0.03}},
      {"two backends, the same", {.shown = 0.1, .launches = 0.12, .share = 0.03, .backends = 2}},
      {"two, share 1 %", {.shown = 0.1, .launches = 0.12, .share = 0.01, .backends = 2}},
      {"two, share 10 %", {.shown = 0.1, .launches = 0.12, .share = 0.1, .backends = 2}},
      {"two, share 30 %", {.shown = 0.1, .launches = 0.12, .share = 0.3, .backends = 2}},
      {"two, launches by 10 %, of visits by 3 %, share 10 %",
       {.shown = 0.1, .launches = 0.03, .share = 0.1, .backends = 2}},
      {"two, launches by 10 %, of visits by 0, share 10 %", {.shown = 0.1, .share = 0.1, .backends = 2}},
      {"two, launches by 10 %, of visits by 0, share 30 %", {.shown = 0.1, .share = 0.3, .backends = 2}},
  };
  fmt::print("\n{:<54}  {:>14}  {:>14}  {:>14}  {:>14}  {:>14}  {:>14}\n",
             "on CUDA, all share visits and sessions; nine backends", "moved, 0 %", "SAME, 0 %", "SLOWER, 3 %",
             "SAME, 3 %", "others moved", "SLOWER, all 3 %");
  for (const int sessions : {1, 3})
    for (const auto& [name, device] : devices) {
      const auto s = lasolve::compare::shares_of_verdicts(device, pairs, sessions);
      fmt::print("{:<54}  {:>12.2f} %  {:>12.2f} %  {:>12.2f} %  {:>12.2f} %  {:>12.2f} %  {:>12.2f} %\n", name,
                 s.wrong, s.decided, s.found, s.missed, s.wrong_beside, s.solver);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 4000;
  const std::pair<const char*, MachineModel> machines[] = {
      {"runs differ by 0.5 %", {.spread = 0.005}},
      {"by 1 %", {.spread = 0.01}},
      {"by 2 %", {.spread = 0.02}},
      {"by 3 %", {.spread = 0.03}},
      {"1 %, a fifth are outliers", {.spread = 0.01, .outliers = 0.2}},
      {"1 %, 3 % slower at the end", {.spread = 0.01, .trend = 0.03}},
      {"1 %, waves of 2 %", {.spread = 0.01, .swing = 0.01}},
      {"0.5 %, wanders by 0.5 %", {.spread = 0.005, .wander = 0.005}},
      {"1 %, wanders by 1 %", {.spread = 0.01, .wander = 0.01}},
      {"1 %, wanders by 2 %", {.spread = 0.01, .wander = 0.02}},
      {"1 %, visits by 1 %", {.spread = 0.01, .visit = 0.01}},
      {"1 %, visits by 2 %", {.spread = 0.01, .visit = 0.02}},
      {"1 %, sessions by 0.3 %", {.spread = 0.01, .session = 0.003}},
      {"1 %, sessions by 0.5 %", {.spread = 0.01, .session = 0.005}},
      {"1 %, sessions by 0.4 %", {.spread = 0.01, .session = 0.004}},
      {"1 %, sessions by 10 %, as the yardstick", {.spread = 0.01, .shown = 0.1}},
      {"1 %, sessions by 10 %, and 15 % more than it", {.spread = 0.01, .shown = 0.1, .sensitivity = 1.15}},
      {"1 %, sessions by 10 %, and 15 % less than it", {.spread = 0.01, .shown = 0.1, .sensitivity = 0.85}},
  };
  fmt::print("{:<50}  {:>14}  {:>14}  {:>14}  {:>14}\n", "machine", "not SAME, 0 %", "not SAME, 1 %", "SLOWER, 3 %",
             "could be seen");
  for (const auto& [name, machine] : machines) {
    std::mt19937_64 random(1);
    int wrong = 0, small = 0, found = 0;
    std::vector<double> visible;
    for (int pair = 0; pair < pairs; ++pair) {
      const ModelSession before = medians_of_session(machine, 1, random);
      const Change same = verdict(before, medians_of_session(machine, 1, random));
      wrong += same.kind != Change::same;
      small += verdict(before, medians_of_session(machine, 1.01, random)).kind != Change::same;
      found += verdict(before, medians_of_session(machine, 1.03, random)).kind == Change::slower;
      visible.push_back(same.visible);
    }
    const auto percent = [&](int count) { return fmt::format("{:.2f} %", 100.0 * count / pairs); };
    fmt::print("{:<50}  {:>14}  {:>14}  {:>14}  {:>12.1f} %\n", name, percent(wrong), percent(small), percent(found),
               100 * spread_of(visible).median);
  }
  print_devices(std::max(1, pairs / 10));
}
