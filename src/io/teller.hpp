// Reports which share of something long is done.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace lasolve::io {

using Progress = std::function<void(double share)>;

/// Progress of a part of something, as the shares from `begin` to `end` of the whole.
inline Progress part_of(const Progress& whole, double begin, double end) {
  if (!whole) return {};
  return [=](double share) { whole(begin + (end - begin) * share); };
}

/// Of the time that it takes to read what is compressed.
constexpr double share_of_decompression = 0.8;

/// Tells a thousand times at most.
class Teller {
 public:
  Teller(Progress progress, std::int64_t total) : progress_(std::move(progress)), total_(total) {}
  /// So many of the total are done.
  void operator()(std::int64_t done) {
    if (!progress_ || done < next_) return;
    next_ = done + total_ / 1000 + 1;
    progress_(double(done) / double(total_));
  }

 private:
  const Progress progress_;
  const std::int64_t total_;
  std::int64_t next_ = 0;
};

}  // namespace lasolve::io
