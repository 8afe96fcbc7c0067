// The elements of matrices: one list, which all that is instantiated for each of them walks; and what is asked of an element.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
namespace lasolve {
inline namespace LASOLVE_ABI {

/// X(type): of systems that solve(), Factorization and all that stands on them take.
#define LASOLVE_ELEMENTS(X) X(double) X(float)

/// What has a real and an imaginary part, as std::complex<double>.
template <class T>
concept ComplexElement = requires(const T x) {
  typename T::value_type;
  x.real();
  x.imag();
};

template <class T>
struct RealOf {
  using Type = T;
};
template <ComplexElement T>
struct RealOf<T> {
  using Type = typename T::value_type;
};
/// The type of its parts; of a real element, its own.
template <class T>
using real_of = typename RealOf<T>::Type;

template <class T>
constexpr T conjugate(T x) {
  if constexpr (ComplexElement<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
