#include "core/cpu/pool.hpp"

#include <pthread.h>
#include <unistd.h>

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "core/cpu/pool_threads.hpp"
#include "core/cpu/tsan_order.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

/// Threads that run where their caller may run, but for the caller's own processor.
///
/// Some schedulers wake a thread behind the one that wakes it, though other processors are idle. A caller has work to do, and would be in
/// the way until the next tick, some milliseconds.
class Placement {
 public:
  /// By a thread: it is one of them. Those beyond the largest number run where they will.
  void join() {
    for (std::atomic<pid_t>& thread : threads_)
      if (pid_t nobody = 0; thread.compare_exchange_strong(nobody, gettid())) break;
    ++joined_;
  }

  /// How many the last caller could run on that asked; 1 before.
  int processors() const { return processors_.load(std::memory_order_relaxed); }

  /// By a caller that is alone and about to wake them.
  void keep_off_this_processor() {
    const std::unique_lock lock(placing_, std::try_to_lock);
    cpu_set_t all;
    // It fails where there are more processors than the set has bits.
    if (!lock || sched_getaffinity(0, sizeof all, &all) != 0) return;
    processors_ = CPU_COUNT(&all);
    cpu_set_t others = all;
    if (const int here = sched_getcpu(); here >= 0) CPU_CLR(here, &others);
    if (CPU_COUNT(&others) == 0) others = all;
    const int joined = joined_;
    if (CPU_EQUAL(&others, &placed_on_) && joined == placed_) return;
    placed_on_ = others, placed_ = joined;
    for (const std::atomic<pid_t>& thread : threads_) {
      const pid_t id = thread;
      if (id == 0) break;
      sched_setaffinity(id, sizeof others, &others);
    }
  }

 private:
  std::atomic<pid_t> threads_[1024] = {};
  std::atomic<int> joined_ = 0, processors_ = 1;
  std::mutex placing_;  // for the next two: what was last asked for, and of how many threads
  cpu_set_t placed_on_ = {};
  int placed_ = 0;
};

void pause_briefly() {
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

/// To wake a thread costs the caller some microseconds, and it begins after some more.
constexpr double worth_waking = 1 << 19;

/// Parts that one caller shares. Threads look into any region at any time, so it is never destroyed.
struct alignas(64) Region {
  static constexpr std::int64_t closed = std::int64_t(1) << 62;

  std::atomic<bool> taken = false;
  std::atomic<bool> failed = false;
  void (*part)(void*, std::int64_t) = nullptr;
  void* argument = nullptr;
  std::exception_ptr failure;
  std::atomic<std::int64_t> parts = 0;
  alignas(64) std::atomic<std::int64_t> next = closed;  // part that nobody has taken
  std::atomic<int> inside = 0;                          // threads beside the caller that may touch the rest

  bool open() const { return next.load(std::memory_order_relaxed) < parts.load(std::memory_order_relaxed); }

  void take_parts() {
    for (std::int64_t t; (t = next.fetch_add(1)) < parts.load(std::memory_order_relaxed);) try {
        comes_after(&next);
        part(argument, t);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
        next = closed;
      }
  }

  /// For a thread other than the caller.
  void help() {
    ++inside;  // from here on the caller waits for this thread, and does not open the region anew
    take_parts();
    comes_before(&inside);
    if (--inside == 0) inside.notify_one();
  }
};

class Pool {
 public:
  void run(std::int64_t parts, double work, void (*part)(void*, std::int64_t), void* argument) {
    Region* region = parts > 1 ? take_region() : nullptr;
    if (!region) {  // as many callers as regions keep all cores busy without help
      for (std::int64_t t = 0; t < parts; ++t) part(argument, t);
      return;
    }
    region->part = part;
    region->argument = argument;
    region->parts = parts;
    comes_before(&region->next);
    region->next = 0;
    ++callers_;
    ++opened_;
    if (work >= worth_waking) {
      if (callers_ == 1 && asleep_ > 0) placement_.keep_off_this_processor();  // several callers would be everywhere
      call(int(std::min<std::int64_t>(parts - 1, std::numeric_limits<int>::max())));
    }
    region->take_parts();
    region->next = Region::closed;
    const auto left = [&] { return region->inside == 0; };
    if (!spin_until(is_room(), left))
      for (int inside; (inside = region->inside) != 0;) region->inside.wait(inside);
    comes_after(&region->inside);
    const bool failed = region->failed.exchange(false);
    const std::exception_ptr failure = std::exchange(region->failure, nullptr);
    region->taken = false;
    --callers_;
    if (failed) std::rethrow_exception(failure);
  }

  int most() const { return most_; }
  void forget_failure() { most_ = std::numeric_limits<int>::max(); }

  void before_fork() {}
  void after_fork(bool in_child) {
    if (in_child) new (this) Pool;
  }

 private:
  Region* take_region() {
    for (Region& region : regions_)
      if (!region.taken.load(std::memory_order_relaxed) && !region.taken.exchange(true)) return &region;
    return nullptr;
  }

  /// Whether each caller and each thread that looks for work can have a processor.
  bool is_room() const { return callers_ + looking_ <= placement_.processors(); }

  /// Sees to it that as many threads, if they can be had, look for work.
  void call(int wanted) {
    if (made_ < std::min(wanted, most_.load())) make(wanted);
    ++calls_;
    const int asleep = asleep_, needed = wanted - looking_;
    if (needed >= asleep)
      calls_.notify_all();
    else
      for (int i = 0; i < needed; ++i) calls_.notify_one();
  }

  void make(int wanted) {
    const std::lock_guard lock(making_);
    // Signals are for the threads of the program, but for those that a thread brings on itself, and profilers.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPROF}) sigdelset(&blocked, own);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    const auto work = [](void* pool) -> void* { return static_cast<Pool*>(pool)->work(), nullptr; };
    for (pthread_t thread; made_ < std::min(wanted, most_.load());)
      pthread_create(&thread, &detached, work, this) == 0 ? ++made_ : most_ = made_.load();
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void work() {
    placement_.join();
    pool_threads.add(gettid());
    for (;;) {
      const unsigned opened = opened_;
      const int calls = calls_;
      for (Region& region : regions_)
        if (region.open()) region.help();
      if (opened_ != opened) continue;
      ++looking_;
      const bool more = spin_until(is_room(), [&] { return opened_ != opened; });
      --looking_;
      if (more) continue;
      ++asleep_;
      calls_.wait(calls);
      --asleep_;
    }
  }

  Region regions_[16];
  alignas(64) std::atomic<unsigned> opened_ = 0;  // regions, so far
  alignas(64) std::atomic<int> calls_ = 0;        // to threads that sleep, so far
  std::atomic<int> callers_ = 0, looking_ = 0, asleep_ = 0, made_ = 0, most_ = std::numeric_limits<int>::max();
  std::mutex making_;
  Placement placement_;
};

/// Its threads sleep until the process ends.
Pool& pool() {
  constinit static SeesForks<Pool> one;
  return one.get();
}

}  // namespace

void run_parts(std::int64_t parts, double work, void (*part)(void*, std::int64_t), void* argument) {
  pool().run(parts, work, part, argument);
}

int threads_to_be_had(int wanted) { return wanted - 1 <= pool().most() ? wanted : pool().most() + 1; }

void forget_failed_threads() { pool().forget_failure(); }

}  // namespace lasolve
