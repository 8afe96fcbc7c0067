// What every exported name does: it looks at its arguments, lets the next LAPACK have what is small, counts, and says what is wrong.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>

#include "lapack/settings.hpp"
#include "lapack/tally.hpp"

namespace lasolve::lapack {

using Size = std::int64_t;

/// INFO where the machine failed, as there is no memory: as LAPACKE's own for workspace.
inline constexpr int info_of_machine = -1010;

constexpr char capital(char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; }

/// INFO of arguments that are wrong: −k for the first of them, argument k.
class Check {
 public:
  void skip(int positions = 1) { position_ += positions; }
  void is(bool right) {
    ++position_;
    if (!right && info_ == 0) info_ = -position_;
  }
  int info() const { return info_; }

 private:
  int position_ = 0, info_ = 0;
};

/// An array of integers of either width.
class Integers {
 public:
  Integers(std::int32_t* data) : narrow_(data) {}
  Integers(std::int64_t* data) : wide_(data) {}
  Size operator[](Size i) const { return wide_ ? wide_[i] : narrow_[i]; }
  void set(Size i, Size value) const {
    if (wide_)
      wide_[i] = value;
    else
      narrow_[i] = std::int32_t(value);
  }

 private:
  std::int32_t* narrow_ = nullptr;
  std::int64_t* wide_ = nullptr;
};

/// Calls the XERBLA that goes with an exported name, and else says the same itself and returns. The program's may not return.
template <class I>
void complain(const char* symbol, const char* routine, bool is_double, int argument, const void* caller);
extern template void complain<std::int32_t>(const char*, const char*, bool, int, const void*);
extern template void complain<std::int64_t>(const char*, const char*, bool, int, const void*);

/// One exported name.
class Exported {
 public:
  constexpr Exported(const char* symbol, Routine routine, bool is_double)
      : symbol_(symbol), routine_(routine), is_double_(is_double) {}

  /// The same function of the next LAPACK, where the call is for that; null: it is ours.
  void* passes(Size order, const void* caller) {
    if (order >= settings().crossover && settings().refused.empty() && backend()) return nullptr;
    void* found = next_.load(std::memory_order_acquire);
    if (found == &none_) return nullptr;
    if (!found) {
      found = function_of_others(symbol_, caller);
      next_.store(found ? found : &none_, std::memory_order_release);
      if (!found) return nullptr;
    }
    row().passed.fetch_add(1, std::memory_order_relaxed);
    return found;
  }

  /// INFO: f(), unless the arguments are wrong.
  template <class I, class F>
  I take(const Check& check, Size order, const void* caller, F f) {
    int info = check.info();
    if (info == 0) info = timed(order, f);
    if (info < 0 && info != info_of_machine)
      complain<I>(symbol_, names_of_routines[std::size_t(routine_)], is_double_, -info, caller);
    return I(info);
  }

 private:
  Tally::Row& row() const { return tally().of(routine_, is_double_); }

  template <class F>
  int timed(Size order, F f) {
    const auto start = std::chrono::steady_clock::now();
    int info = info_of_machine;
    try {
      info = int(f());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lasolve: %s: %s\n", symbol_, e.what());
    }
    Tally::Row& its = row();
    its.ours.fetch_add(1, std::memory_order_relaxed);
    its.nanoseconds.fetch_add(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count(),
                              std::memory_order_relaxed);
    for (std::int64_t most = its.largest.load(); most < order && !its.largest.compare_exchange_weak(most, order);) {
    }
    return info;
  }

  inline static char none_ = 0;  // the address is that of no function

  const char* symbol_;
  Routine routine_;
  bool is_double_;
  std::atomic<void*> next_ = nullptr;
};

}  // namespace lasolve::lapack
