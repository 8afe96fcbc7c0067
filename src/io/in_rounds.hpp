// Long files are read in parts, a round of them at a time, so that it can be said how far reading is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "core/cpu/parallel.hpp"

namespace lasolve::io {

/// How many parts to read a text in: one a thread where each gets enough of it, more where it is long.
inline std::int64_t parts_of_text(std::int64_t bytes, int threads) {
  constexpr std::int64_t least_bytes = 1 << 16;  // that are worth a thread
  constexpr std::int64_t most_bytes = 4 << 20;  // that take about as long as a person takes to see that nothing happens
  const std::int64_t shares = std::clamp<std::int64_t>(bytes / least_bytes, 1, std::max(threads, 1));
  return std::max(shares, bytes / most_bytes);
}

/// The end of the line at p, which is a line feed or the end of the file.
inline const char* line_end(const char* p, const char* end) {
  const void* const found = std::memchr(p, '\n', std::size_t(end - p));
  return found ? static_cast<const char*>(found) : end;
}

/// The lines of [begin, end) in so many parts of about the same size.
inline std::vector<const char*> split_lines(const char* begin, const char* end, std::int64_t parts) {
  std::vector<const char*> bounds(std::size_t(parts) + 1, end);
  bounds[0] = begin;
  for (std::int64_t t = 1; t < parts; ++t) {
    const char* const about = std::max(bounds[std::size_t(t - 1)], begin + (end - begin) / parts * t);
    const char* const stop = line_end(about, end);
    bounds[std::size_t(t)] = stop == end ? end : stop + 1;
  }
  return bounds;
}

/// f(t) for each t in [0, parts), on so many threads at once. After each round `progress` is called with the share that is done.
template <class F>
void in_rounds(std::int64_t parts, int threads, double work, const std::function<void(double)>& progress, F f) {
  const std::int64_t at_once = std::max(threads, 1);
  for (std::int64_t first = 0; first < parts; first += at_once) {
    const std::int64_t last = std::min(parts, first + at_once);
    on_cores(last - first, work * double(last - first) / double(parts), [&](std::int64_t t) { f(first + t); });
    if (progress) progress(double(last) / double(parts));
  }
}

}  // namespace lasolve::io
