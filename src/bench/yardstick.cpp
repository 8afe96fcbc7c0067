#include "bench/yardstick.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

#include "bench/product.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

namespace {

constexpr std::size_t order = 128;

/// Its operands are small numbers, and its loops are those that a compiler makes vectors of.
class Work {
 public:
  Work() : a_(order * order), b_(order * order), c_(order * order) {
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = double(i % 7) - 3, b_[i] = double(i % 5) - 2;
  }
  double operator()() {
    std::fill(c_.begin(), c_.end(), 0.0);
    for (std::size_t j = 0; j < order; ++j)
      for (std::size_t k = 0; k < order; ++k) {
        const double b = b_[k + order * j];
        const double* const a = &a_[order * k];
        double* const c = &c_[order * j];
        for (std::size_t i = 0; i < order; ++i) c[i] += a[i] * b;
      }
    return c_[order + 1];
  }

 private:
  std::vector<double> a_, b_, c_;
};

constexpr int repeats = 5;

double seconds_of(Work& work) {
  static std::atomic<double> kept;  // so that it is computed
  const Stopwatch watch;
  kept = work();
  return watch.seconds();
}

double seconds_alone() {
  Work work;
  seconds_of(work);
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(seconds_of(work));
  return spread_of(seconds).median;
}

/// The slowest of all; of fewer, where a limit of memory or threads allows no more: who has begun must not wait for the others.
double seconds_on_all_threads(int threads) {
  std::vector<double> seconds(std::size_t(threads), 0.0);
  std::atomic<int> there = 0;
  {
    std::vector<std::jthread> all;
    try {
      for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
          ++there;
          while (there < threads) std::this_thread::yield();
          seconds[std::size_t(t)] = seconds_alone();
        });
    } catch (const std::exception&) {
      there += threads;
    }
    if (all.empty()) return seconds_alone();
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

}  // namespace

void Yardstick::measure(int threads) {
  const double one = seconds_alone();
  on_all_threads.push_back(threads > 1 ? seconds_on_all_threads(threads) : one);
  alone.push_back(one);
}

MachineChange machine_between(const Yardstick& before, const Yardstick& after,
                              std::initializer_list<Yardstick::Times> of) {
  MachineChange machine;
  for (const auto times : of) {
    if ((before.*times).empty() || (after.*times).empty()) continue;
    const ChangeTest test;
    const Change change = change_between(before.*times, after.*times, test);
    const double shift = std::log1p(change.shift);
    const double error =
        std::isfinite(change.high) ? (std::log1p(change.high) - std::log1p(change.low)) / (2 * test.z) : 0;
    machine.slower = std::max(machine.slower, std::expm1(margin_of_machine * (shift + error)));
    machine.faster = std::min(machine.faster, std::expm1(margin_of_machine * (shift - error)));
  }
  return machine;
}

}  // namespace lasolve::bench
