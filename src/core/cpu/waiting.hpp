// How threads of the host wait for each other before they sleep.
#pragma once

#include <chrono>
#include <utility>

namespace lasolve {

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until done(), for a while; returns whether done().
///
/// A core that slept takes up to 0.1 ms to come back. So a while is longer than most steps of a factorization that have no work for
/// others, if there is room: a core for each thread that runs or spins. But where other programs want the core, to spin for as long would
/// stop all of them, and the threads that are waited for. A thread that sees the clock jump has not had its core, and is less patient
/// from then on.
template <class Done>
bool spin_until(bool is_room, Done done) {
  using Clock = std::chrono::steady_clock;
  using namespace std::chrono_literals;
  constexpr Clock::duration patience = 2ms, patience_in_a_crowd = 50us, jump = 300us, crowds_last = 100ms;
  thread_local Clock::time_point crowded_until;
  Clock::time_point now = Clock::now();
  const auto end = now + (is_room && now >= crowded_until ? patience : patience_in_a_crowd);
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause_briefly();
    }
    const auto before = std::exchange(now, Clock::now());
    if (now - before > jump) {
      crowded_until = now + crowds_last;
      break;
    }
  } while (now < end);
  return done();
}

}  // namespace lasolve
