// What a process has one of: made when first needed, and there until the process is gone. Others may still compute when main returns,
// in handlers of atexit, in a forked child, and when the plugin that holds the library was closed. At the end CUDA may be gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "core/cpu/tsan_order.hpp"

namespace lasolve {

/// While this lives, something is made that the process has one of, and no other thread makes anything. A fork waits for it, so that a
/// child has all of what was made. So nobody may wait for work of other threads meanwhile.
class Making {
 public:
  Making() noexcept;
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
};

/// A T that is never destroyed. To be declared `constinit static`, so that there is nothing to wait for but Making.
template <class T>
class NeverDestroyed {
 public:
  /// The one that make() returned when it was first asked for. What make() throws is thrown, and the next call tries again.
  template <class Make>
  T& get(Make make) {
    if (!made_.load(std::memory_order_acquire)) {
      const Making making;
      if (!made_.load(std::memory_order_relaxed)) {
        T* const made = ::new (memory_) T(make());
        comes_before(&made_);
        made_.store(made, std::memory_order_release);
      }
    }
    comes_after(&made_);
    return *made_.load(std::memory_order_relaxed);
  }
  T& get() {
    return get([] { return T(); });
  }

 private:
  alignas(T) std::byte memory_[sizeof(T)] = {};
  std::atomic<T*> made_ = nullptr;
};

/// Called by the thread that forks, with nothing being made. A child has no other thread.
struct AtFork {
  void (*before)(void* it) = nullptr;
  void (*after)(void* it, bool in_child) = nullptr;
  void* it = nullptr;
  AtFork* next = nullptr;
};
void call_at_forks(AtFork&) noexcept;

/// The same of a T that counts threads or locks them out, which it sees to by before_fork() and after_fork(bool in_child).
template <class T>
class SeesForks {
 public:
  T& get() {
    return it_.get([this] {
      at_fork_ = {[](void* it) { of(it).before_fork(); }, [](void* it, bool in_child) { of(it).after_fork(in_child); },
                  &it_};
      call_at_forks(at_fork_);
      return T();
    });
  }

 private:
  static T& of(void* it) { return static_cast<NeverDestroyed<T>*>(it)->get(); }

  NeverDestroyed<T> it_;
  AtFork at_fork_;
};

/// How many forks lie between this process and the one that loaded the library, and one: never 0.
unsigned generation() noexcept;

}  // namespace lasolve
