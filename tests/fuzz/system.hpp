// Systems with a known solution, and what is asked of them, out of bytes.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cmath>
#include <limits>
#include <string>

#include "lasolve/lasolve.hpp"
#include "reference.hpp"

namespace lasolve::fuzz {

enum class Kind { any, definite, dominant, singular, low_rank, grows, kMaxValue = grows };
enum class Scale { none, graded, tiny, huge, kMaxValue = huge };

/// op(A) X = B, where A = D M D, X = D⁻¹ Z, B = D op(M) Z. D has powers of two, M and Z small integers: nothing is rounded.
template <class T>
struct System {
  explicit System(FuzzedDataProvider& in)
      : kind(in.ConsumeEnum<Kind>()),
        scale(in.ConsumeBool() ? Scale::none : in.ConsumeEnum<Scale>()),
        triangle(in.ConsumeIntegralInRange(0, 3) > 0 ? Uplo::both : in.PickValueInArray({Uplo::lower, Uplo::upper})),
        is_symmetric(triangle != Uplo::both || kind == Kind::definite || in.ConsumeBool()),
        op(in.ConsumeBool() ? Op::none : Op::transpose),
        n(in.ConsumeIntegralInRange(0, in.ConsumeBool() ? 80 : 20)),
        nrhs(in.ConsumeIntegralInRange(0, 9)),
        state_(in.ConsumeIntegral<std::uint32_t>()) {
    const Matrix<T> M = integers();
    std::vector<int> d(static_cast<std::size_t>(n), 0);
    const int range = in.PickValueInArray({2, 9, sizeof(T) == 8 ? 200 : 24});
    for (int& e : d)
      e = scale == Scale::graded ? draw(-range, range)
          : scale == Scale::tiny ? (sizeof(T) == 8 ? -520 : -70)
          : scale == Scale::huge ? (sizeof(T) == 8 ? 506 : 58)
                                 : 0;
    const auto of = [&](std::int64_t i) { return d[std::size_t(i)]; };
    const auto Z = test::matrix_of<T>(n, nrhs, [&](auto, auto) { return draw(-8, 7); });
    const auto zero = test::matrix_of<T>(n, nrhs, [](auto, auto) { return 0; });
    const auto product = test::product<T>(1, Operand<T>(M.view(), op), Z.view(), 0, zero.view());
    A = test::matrix_of<T>(n, n, [&](auto i, auto j) { return std::ldexp(M(i, j), of(i) + of(j)); });
    B = test::matrix_of<T>(n, nrhs, [&](auto i, auto j) { return std::ldexp(product(i, j), of(i)); });
    X = test::matrix_of<T>(n, nrhs, [&](auto i, auto j) { return std::ldexp(Z(i, j), -of(i)); });
    const T special = in.PickValueInArray({std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity()});
    if (n > 0 && in.ConsumeIntegralInRange(0, 31) == 31) {
      const auto i = draw(0, int(n) - 1), j = draw(0, int(n) - 1);
      A(i, j) = special, A_is_finite = false;
      if (is_symmetric) A(j, i) = special;
    }
    if (n > 0 && nrhs > 0 && in.ConsumeIntegralInRange(0, 31) == 31)
      B(draw(0, int(n) - 1), draw(0, int(nrhs) - 1)) = special, B_is_finite = false;
  }

  bool is_finite() const { return A_is_finite && B_is_finite; }
  /// As it is given: what is not there of it is NaN.
  Matrix<T> given() const {
    return test::matrix_of<T>(n, n, [&](auto i, auto j) {
      return (triangle == Uplo::lower && i < j) || (triangle == Uplo::upper && i > j)
                 ? std::numeric_limits<T>::quiet_NaN()
                 : A(i, j);
    });
  }

  Kind kind;
  Scale scale;
  Uplo triangle;
  bool is_symmetric, A_is_finite = true, B_is_finite = true;
  Op op;
  std::int64_t n, nrhs;
  Matrix<T> A, B, X;

 private:
  std::uint32_t state_;

  int draw(int least, int most) {
    state_ = state_ * 1664525 + 1013904223;
    return least + int((state_ >> 8) % std::uint32_t(most - least + 1));
  }
  Matrix<T> integers() {
    const auto G = test::matrix_of<T>(n, 2 * n, [&](auto, auto) { return draw(-1, 1); });
    const auto at = std::int64_t(n > 0 ? draw(0, int(n) - 1) : 0), next = n > 0 ? (at + 1) % n : 0;
    auto M = test::matrix_of<T>(n, n, [&](auto i, auto j) {
      return kind == Kind::dominant ? (i == j ? 9 * n + 1 : draw(-8, 8))
             : kind == Kind::grows  ? (i == j || j == n - 1 ? 1
                                       : i > j              ? -1
                                                            : 0)
                                    : draw(-128, 127);
    });
    if (kind == Kind::definite) {
      const auto zero = test::matrix_of<T>(n, n, [](auto, auto) { return 0; });
      M = test::rounded<T>(test::product<T>(1, G.view(), Operand<T>(G.view(), Op::transpose), 0, zero.view()));
    }
    for (std::int64_t j = 0; j < n && is_symmetric; ++j)
      for (std::int64_t i = 0; i < j; ++i) M(i, j) = M(j, i);
    for (std::int64_t i = 0; i < n; ++i) {
      if (kind == Kind::low_rank) M(i, at) = M(i, next);
      if (kind == Kind::singular) M(i, at) = 0;
    }
    for (std::int64_t i = 0; i < n && is_symmetric; ++i) {
      if (kind == Kind::low_rank) M(at, i) = M(next, i);
      if (kind == Kind::singular) M(at, i) = 0;
    }
    return M;
  }
};

}  // namespace lasolve::fuzz
