// In which arithmetic products and factors are computed, and the 16-bit elements that some of it takes.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include "lasolve/elements.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

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

/// automatic: that of the matrix. tf32: operands of fp32, of which a product reads 11 significant bits. fp16, bf16: operands of 16 bits.
/// Their products are exact, and summed in fp32.
enum class Precision { automatic, fp64, fp32, tf32, fp16, bf16 };

/// What follows from the precision P of a product: the type of the elements of A and B, the type of α, β and C, and the
/// unit roundoff of a backend that says nothing else.
template <Precision P>
struct Arithmetic;

template <class Operand_, class Result_>
struct ArithmeticOn {
  using Operand = Operand_;
  using Result = Result_;
  /// The unit roundoff of an operand that is rounded from a Result; 0: it is one.
  static constexpr double rounding = 0;
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
  static constexpr double unit_roundoff = 0x1p-24, rounding = 0x1p-11;
};
template <>
struct Arithmetic<Precision::bf16> : ArithmeticOn<lasolve::bf16, float> {
  static constexpr double unit_roundoff = 0x1p-24, rounding = 0x1p-8;
};

/// x with 11 significant bits, to nearest, ties to even. A NaN stays one.
constexpr float rounded_to_tf32(float x) {
  const std::uint32_t b = std::bit_cast<std::uint32_t>(x);
  if ((b & 0x7f800000) == 0x7f800000) return x;
  return std::bit_cast<float>((b + 0xfff + ((b >> 13) & 1)) & ~0x1fffu);
}

/// An element of an operand, as a product in precision P takes it.
template <Precision P>
constexpr typename Arithmetic<P>::Result factor_of(typename Arithmetic<P>::Operand x) {
  if constexpr (P == Precision::tf32) return rounded_to_tf32(x);
  return typename Arithmetic<P>::Result(x);
}

/// A list of precisions, from which a template deduces them.
template <Precision...>
struct Precisions {};
/// Those of products.
using ProductPrecisions =
    Precisions<Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16>;

/// f(std::integral_constant<Precision, P>()) for each precision P of a product.
template <class F>
constexpr void for_each_precision(F f) {
  const auto each = [&]<Precision... P>(Precisions<P...>) { (f(std::integral_constant<Precision, P>()), ...); };
  each(ProductPrecisions());
}

/// Those that factors are stored in: as operands, and computed as results.
using StoragePrecisions = Precisions<Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16>;

/// f(std::integral_constant<Precision, p>()), known when the program runs.
template <class F>
constexpr void for_storage(Precision p, F f) {
  const auto each = [&]<Precision... P>(Precisions<P...>) {
    ((P == p ? f(std::integral_constant<Precision, P>()) : void()), ...);
  };
  each(StoragePrecisions());
}
inline constexpr auto storage_precisions = []<Precision... P>(Precisions<P...>) { return std::array{P...}; }
(StoragePrecisions());
constexpr bool can_be_stored(Precision p) {
  for (const Precision one : storage_precisions)
    if (one == p) return true;
  return false;
}

/// f for the precision p alone, known when the program runs.
template <class F>
constexpr void for_precision(Precision p, F f) {
  for_each_precision([&](auto P) {
    if (P == p) f(P);
  });
}

/// The unit roundoff that follows from a precision of products. Not of automatic.
constexpr double unit_roundoff_of(Precision p) {
  double u = 0;
  for_precision(p, [&](auto P) { u = Arithmetic<P>::unit_roundoff; });
  return u;
}

/// The unit roundoff of what an operand of a product in p is rounded to before, or 0.
constexpr double rounding_of_operands(Precision p) {
  double u = 0;
  for_precision(p, [&](auto P) { u = Arithmetic<P>::rounding; });
  return u;
}

/// Bytes of an element of a matrix that is stored in p.
constexpr int bytes_of(Precision p) {
  int bytes = 0;
  for_precision(p, [&](auto P) { bytes = int(sizeof(typename Arithmetic<P>::Operand)); });
  return bytes;
}

/// What a system can be solved in: what factors are stored in, and what products are computed in. Operands of fp16 and bf16 are rounded
/// from fp32 for each product. Residuals are computed in the precision of the matrix, which only a recipe knows.
struct SolvePrecision {
  Precision name, storage, products, residual = Precision::automatic;

  /// Of a solution that is not refined.
  constexpr double unit_roundoff() const {
    double u = 0;
    for (const double one : {unit_roundoff_of(storage), rounding_of_operands(storage), unit_roundoff_of(products),
                             rounding_of_operands(products)})
      u = one > u ? one : u;
    return u;
  }
};

/// All of them, the finest first.
inline constexpr SolvePrecision solve_precisions[] = {
    {.name = Precision::fp64, .storage = Precision::fp64, .products = Precision::fp64},
    {.name = Precision::fp32, .storage = Precision::fp32, .products = Precision::fp32},
    {.name = Precision::tf32, .storage = Precision::fp32, .products = Precision::tf32},
    {.name = Precision::fp16, .storage = Precision::fp32, .products = Precision::fp16},
    {.name = Precision::bf16, .storage = Precision::fp32, .products = Precision::bf16},
};

/// Whether numbers of ordinary size may overflow in p, as operands of products or where factors are stored: from 65520 on in fp16. Solvers
/// scale the matrix then.
constexpr bool has_narrow_range(const SolvePrecision& p) {
  return p.products == Precision::fp16 || p.storage == Precision::fp16;
}

static_assert([] {
  for (const SolvePrecision& p : solve_precisions)
    if (!can_be_stored(p.storage)) return false;
  return true;
}());

/// That of a name; null: there is none.
constexpr const SolvePrecision* find_solve_precision(Precision name) {
  for (const SolvePrecision& p : solve_precisions)
    if (p.name == name) return &p;
  return nullptr;
}

template <class T, Precision... P>
constexpr Precision first_with_operands(Precisions<P...>) {
  Precision first = Precision::automatic;
  (void)((std::is_same_v<T, typename Arithmetic<P>::Operand> && (first = P, true)) || ...);
  return first;
}

/// That of a matrix of T: the first whose operands are of T, or of its real parts.
template <class T>
inline constexpr Precision precision_of = first_with_operands<real_of<T>>(ProductPrecisions());

/// What factors are computed in that are stored in p.
constexpr Precision computed_in(Precision p) {
  Precision in = Precision::automatic;
  for_storage(p, [&](auto P) { in = precision_of<typename Arithmetic<P>::Result>; });
  return in;
}

/// That of a name whose factors are stored in `storage` when they are finished; automatic: as the name says. A storage without a name is
/// of what it is computed in. None: there is no such name, or it is not computed in what is stored.
constexpr std::optional<SolvePrecision> find_solve_precision(Precision name, Precision storage) {
  const SolvePrecision* const found = find_solve_precision(name == Precision::automatic ? computed_in(storage) : name);
  if (!found || (storage != Precision::automatic && computed_in(storage) != found->storage)) return {};
  SolvePrecision its = *found;
  if (storage != Precision::automatic) its.storage = storage;
  return its;
}

/// Whether solutions in such a precision, or in the one that automatic means, are coarser than a matrix of T. False for a
/// precision that no system can be solved in.
template <class T>
constexpr bool is_coarser_than(Precision name, Precision storage = Precision::automatic) {
  const auto p = find_solve_precision(name, storage);
  return p && p->unit_roundoff() > unit_roundoff_of(precision_of<T>);
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
