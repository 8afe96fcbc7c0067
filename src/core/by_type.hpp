// One of two functions of a C library, by the element type.
#pragma once

#include <type_traits>

namespace lasolve {

template <class T, class F64, class F32>
constexpr auto by_type(F64 f64, F32 f32) {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
  if constexpr (std::is_same_v<T, double>)
    return f64;
  else
    return f32;
}

}  // namespace lasolve
