// Questions to a whole range, as the standard's algorithms ask them of two iterators. Those of std::ranges take longer to compile.
#pragma once

#include <algorithm>
#include <iterator>

namespace lasolve {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

template <class Range, class Is>
bool any_of(const Range& range, Is is) {
  return std::any_of(std::begin(range), std::end(range), is);
}

template <class Range, class Is>
bool all_of(const Range& range, Is is) {
  return std::all_of(std::begin(range), std::end(range), is);
}

/// The first element that is so; null: there is none.
template <class Range, class Is>
auto find_in(Range& range, Is is) -> decltype(&*std::begin(range)) {
  const auto found = std::find_if(std::begin(range), std::end(range), is);
  return found == std::end(range) ? nullptr : &*found;
}

}  // namespace lasolve
