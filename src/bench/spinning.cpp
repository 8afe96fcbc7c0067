#include "bench/spinning.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "core/cpu/pool_threads.hpp"

namespace lasolve::bench {

namespace {

std::set<pid_t> threads() {
  std::set<pid_t> all;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error))
    all.insert(std::stoi(task.path().filename()));
  return all;
}

/// Neither the caller, nor the process's first, nor of the pool.
bool is_of_others(pid_t thread) { return thread != gettid() && thread != getpid() && !pool_threads.has(thread); }

/// Whether it has run for a millisecond. One of the pool may have been made and not yet noted, where the processors are busy.
bool has_begun(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  long long nanoseconds = 0;
  return !(file >> nanoseconds) || nanoseconds > 1'000'000;
}

/// Whether it runs, or waits for a processor alone: its state, behind its name in parentheses.
bool is_busy(pid_t thread) {
  if (!has_begun(thread)) return false;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t name_ends = stat.rfind(") ");
  return name_ends != stat.npos && stat.compare(name_ends + 2, 1, "R") == 0;
}

}  // namespace

void SpinningThreads::begin() { before_ = threads(); }

void SpinningThreads::end() {
  for (const pid_t thread : threads())
    if (before_.count(thread) == 0) made_.insert(thread);
}

void SpinningThreads::take_all() { made_.merge(threads()); }

void SpinningThreads::look() {
  using namespace std::chrono_literals;
  std::erase_if(made_, [](pid_t thread) { return !is_of_others(thread); });
  if (made_.empty()) return;
  constexpr int samples = 6;
  int busy = 0;
  std::this_thread::sleep_for(4ms);
  for (int s = 0; s < samples; ++s) {
    std::this_thread::sleep_for(1ms);
    busy += int(std::count_if(made_.begin(), made_.end(), [](pid_t t) { return is_busy(t) && is_of_others(t); }));
  }
  looks_.push_back(double(busy) / samples);
}

double SpinningThreads::processors() const {
  if (looks_.empty()) return 0;
  std::vector<double> in_order = looks_;
  const auto middle = in_order.begin() + std::ptrdiff_t(in_order.size() / 2);
  std::nth_element(in_order.begin(), middle, in_order.end());
  return *middle;
}

}  // namespace lasolve::bench
