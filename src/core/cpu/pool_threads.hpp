// Which threads of this process are those of the pool.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>

namespace lasolve {

/// Each thread of the pool notes itself as it begins. Ids of a process that was forked are those of none here.
class PoolThreads {
 public:
  void add(pid_t thread) {
    if (const int place = count_++; place < most) ids_[place] = thread;
  }
  bool has(pid_t thread) const {
    return std::any_of(ids_, ids_ + std::min<int>(count_, most), [=](const auto& id) { return id == thread; });
  }

 private:
  static constexpr int most = 4096;
  std::atomic<pid_t> ids_[most] = {};
  std::atomic<int> count_ = 0;
};
inline constinit PoolThreads pool_threads;

}  // namespace lasolve
