#include "bench/leftover.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "core/stopwatch.hpp"

namespace lasolve::bench {

namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double of_others() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

double processors_of_leftover_threads() {
  using namespace std::chrono_literals;
  std::this_thread::sleep_for(4ms);
  const Stopwatch watch;
  const double before = of_others();
  std::this_thread::sleep_for(6ms);
  return std::max(0.0, of_others() - before) / watch.seconds();
}

}  // namespace lasolve::bench
