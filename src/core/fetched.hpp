// A value that a device works out, and that the host waits for when it is read.
#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace lasolve {

/// Work on the host is done when it has been given, and such a value is there. On a device, the first reading of the first of
/// several waits for all that their queue was given; then all are there.
template <class T>
class Fetched {
 public:
  Fetched(T value) : value_(std::move(value)) {}
  /// fetch() waits for it.
  static Fetched later(std::function<T()> fetch) { return Fetched(std::nullopt, std::move(fetch)); }

  const T& operator*() {
    if (!value_) value_ = std::exchange(fetch_, nullptr)();
    return *value_;
  }
  const T* operator->() { return &**this; }

 private:
  Fetched(std::nullopt_t, std::function<T()> fetch) : fetch_(std::move(fetch)) {}

  std::optional<T> value_;
  std::function<T()> fetch_;
};

}  // namespace lasolve
