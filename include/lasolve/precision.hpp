// In which arithmetic products and factors are computed, and the 16-bit elements that some of it takes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace lasolve {

/// IEEE binary16, as it lies in memory; arithmetic is done in float. CUDA's __half has the same bits.
struct fp16 {
  std::uint16_t bits;

  fp16() = default;
  /// To nearest, ties to even; from 65520 on to infinity. A double is rounded to float first.
  constexpr explicit fp16(float x) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(x), sign = (b >> 16) & 0x8000, magnitude = b & 0x7fffffff;
    if (magnitude > 0x7f800000)
      bits = std::uint16_t(sign | 0x7e00);  // NaN
    else if (magnitude >= 0x477ff000)
      bits = std::uint16_t(sign | 0x7c00);  // infinity
    else if (magnitude >= 0x38800000)       // normal: the exponent's bias goes from 127 to 15
      bits = std::uint16_t(sign | ((magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13));
    else  // a multiple of 2⁻²⁴, as are the floats from 1/2 to 1
      bits = std::uint16_t(sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) & 0x7fffff));
  }
  constexpr operator float() const {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16, magnitude = std::uint32_t(bits & 0x7fff) << 13;
    if (magnitude >= 0x7c00u << 13) return std::bit_cast<float>(sign | 0x7f800000 | magnitude);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f));
  }
};

/// The upper half of a float, as it lies in memory; arithmetic is done in float. CUDA's __nv_bfloat16 has the same bits.
struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  /// To nearest, ties to even. A double is rounded to float first.
  constexpr explicit bf16(float x) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(x);
    const bool nan = (b & 0x7fffffff) > 0x7f800000;
    bits = std::uint16_t(nan ? (b >> 16) | 0x40 : (b + 0x7fff + ((b >> 16) & 1)) >> 16);
  }
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

/// automatic is that of the matrix. tf32 has fp32's operands, of which a product reads 11 significant bits; fp16 and bf16
/// have operands of 16 bits, whose products are exact and summed in fp32.
enum class Precision { automatic, fp64, fp32, tf32, fp16, bf16 };

/// What follows from the precision P of a product: the type of the elements of A and B, the type of α, β and C, and the
/// unit roundoff of a backend that says nothing else.
template <Precision P>
struct Arithmetic;

template <class Operand_, class Result_>
struct ArithmeticOn {
  using Operand = Operand_;
  using Result = Result_;
};
template <>
struct Arithmetic<Precision::fp64> : ArithmeticOn<double, double> {
  static constexpr double unit_roundoff = 0x1p-53;
};
template <>
struct Arithmetic<Precision::fp32> : ArithmeticOn<float, float> {
  static constexpr double unit_roundoff = 0x1p-24;
};
template <>
struct Arithmetic<Precision::tf32> : ArithmeticOn<float, float> {
  static constexpr double unit_roundoff = 0x1p-11;
};
template <>
struct Arithmetic<Precision::fp16> : ArithmeticOn<lasolve::fp16, float> {
  static constexpr double unit_roundoff = 0x1p-24;
};
template <>
struct Arithmetic<Precision::bf16> : ArithmeticOn<lasolve::bf16, float> {
  static constexpr double unit_roundoff = 0x1p-24;
};

/// f(std::integral_constant<Precision, P>()) for each precision P of a product.
template <class F>
constexpr void for_each_precision(F f) {
  const auto each = [&]<Precision... P>() { (f(std::integral_constant<Precision, P>()), ...); };
  each.template operator()<Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16>();
}

/// f for the precision p alone, known when the program runs.
template <class F>
constexpr void for_precision(Precision p, F f) {
  for_each_precision([&](auto P) {
    if (P == p) f(P);
  });
}

/// That of a matrix of T.
template <class T>
inline constexpr Precision precision_of = std::is_same_v<T, double> ? Precision::fp64 : Precision::fp32;

}  // namespace lasolve
