// Which threads are said to compute while nobody has called them.
#include "bench/spinning.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/cpu/pool.hpp"

namespace lasolve::bench {
namespace {

/// A thread that spins, or sleeps, until this object ends.
class Made {
 public:
  explicit Made(bool spins) {
    thread_ = std::thread([this, spins] {
      while (spins && !ended_) {
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_.load(); });
    });
  }
  ~Made() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

double processors_of(SpinningThreads& leftover) {
  for (int look = 0; look < 5; ++look) leftover.look();
  return leftover.processors();
}

TEST(SpinningThreads, is_a_thread_that_was_made_in_a_run_and_spins) {
  SpinningThreads leftover;
  leftover.begin();
  const Made spinning(true), sleeping(false);
  leftover.end();
  EXPECT_GT(processors_of(leftover), 0.3);
  EXPECT_LE(leftover.processors(), 2);
}

TEST(SpinningThreads, is_no_thread_that_sleeps_and_none_that_was_there) {
  const Made another(true);
  SpinningThreads leftover;
  leftover.begin();
  const Made sleeping(false);
  leftover.end();
  EXPECT_LT(processors_of(leftover), 0.3);
  SpinningThreads at_load;
  at_load.take_all();
  EXPECT_GT(processors_of(at_load), 0.3);
}

TEST(SpinningThreads, is_no_thread_of_the_pool) {
  SpinningThreads leftover;
  leftover.begin();
  std::atomic<int> begun = 0;  // so that the pool has made its threads
  run_parts(
      3, 1e9, [](void* count, std::int64_t) { ++*static_cast<std::atomic<int>*>(count); }, &begun);
  leftover.end();
  std::atomic<bool> ended = false;
  std::thread caller([&] {
    while (!ended)
      run_parts(
          3, 1e9, [](void*, std::int64_t) {}, nullptr);
  });
  EXPECT_EQ(processors_of(leftover), 0);
  ended = true;
  caller.join();
}

}  // namespace
}  // namespace lasolve::bench
