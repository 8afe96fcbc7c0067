// What the machine does while the runs of a size are measured.
#pragma once

#include <fmt/format.h>

#include <map>

#include "bench/spinning.hpp"
#include "bench/throttle.hpp"
#include "cli/compare/run.hpp"
#include "cli/kernels.hpp"
#include "compare/launches.hpp"

namespace lasolve::cli {

/// How fast it is, in each visit; whether a clock is held down; whether threads that are not ours compute between runs.
class Meanwhile {
 public:
  bench::Throttle throttle;  ///< of the device, on which all run

  Meanwhile(const CompareRequest& request, const std::vector<Contestant>& all)
      : throttle(bench::Throttle::of(request.options.device)), request_(request) {
    for (const Contestant& c : all) {
      if (!c.fault.empty() || !(c.baseline_solver || is_plugin(c.name)) || spinning_.count(c.name) != 0) continue;
      bench::SpinningThreads& its = spinning_[c.name];
      if (!c.baseline_solver) its.take_all();  // of the libraries that are loaded, made as they were
    }
  }

  /// Verdicts do without that of the device where it has no room for it, or a backend has spoilt it.
  void measure_yardstick() {
    yardstick_.measure(request_.setting.threads);
    try {
      if (!chain_ && request_.options.device.kind == Device::cuda && yardstick_.launches.empty())
        chain_ = compare::make_chain_of_launches(request_.options.device.index);
      if (chain_) yardstick_.launches.push_back(chain_());
    } catch (const MachineError&) {
      chain_ = nullptr;
    }
  }

  /// Of kernels and solvers that are not ours, which may have left threads in the visit before.
  void look_for_spinning() {
    for (auto& [name, its] : spinning_) its.look();
  }
  /// What run() returns; threads that it makes are those of a contestant.
  template <class Run>
  auto around_run(const std::string& name, Run run) {
    const auto its = spinning_.find(name);
    if (its == spinning_.end()) return run();
    its->second.begin();
    const auto made = run();
    its->second.end();
    return made;
  }

  const bench::Yardstick& yardstick() const { return yardstick_; }
  /// What is to be known of the size.
  std::vector<std::string> notes() const {
    constexpr double much = 0.3;
    std::vector<std::string> notes;
    for (const auto& [name, its] : spinning_)
      if (its.processors() > much)
        notes.push_back(
            fmt::format("threads of {} keep {:.1f} processors busy when it is not called; times of all rows are with "
                        "that (OMP_WAIT_POLICY=passive has threads of OpenMP sleep)",
                        name, its.processors()));
    return notes;
  }

 private:
  const CompareRequest& request_;
  bench::Yardstick yardstick_;
  std::function<double()> chain_;                           // of launches
  std::map<std::string, bench::SpinningThreads> spinning_;  // of kernels and solvers that are not ours
};

}  // namespace lasolve::cli
