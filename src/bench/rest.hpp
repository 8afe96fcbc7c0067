// What comes before each timed run.
#pragma once

#include <chrono>
#include <thread>

namespace lasolve::bench {

/// Nothing for a while: the threads of the run before stop to spin for work, and a device cools that was hot, and slower for it.
inline void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace lasolve::bench
