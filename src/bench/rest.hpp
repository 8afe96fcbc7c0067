// What comes before each timed run.
#pragma once

#include <chrono>
#include <thread>

namespace lasolve::bench {

/// 50 ms of nothing: the threads of the run before stop to spin for work, and a device cools that was hot, and slower for it.
inline void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

}  // namespace lasolve::bench
