// Whether coarse factors reveal how ill-conditioned A is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <variant>

#include "core/settled.hpp"
#include "solvers/copy.hpp"
#include "solvers/factors.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// By what factor A⁻¹ may exceed M⁻¹, the inverse that the factors apply: a heuristic estimate of ‖(I − F)⁻¹‖∞, as A⁻¹ = (I − F)⁻¹M⁻¹ with
/// F = I − M⁻¹A. Infinite if F may have an eigenvalue near 1: then A may have a tiny singular value that M hides.
///
/// This is the power method. A step of classical refinement makes F e of an error e. Random vectors have a component of about 1/√n along each
/// eigenvector, and one with eigenvalue 1 remains. So each step must halve the largest element, down to 2⁻⁵/√n; the first may
/// make it 4 times as large. Scaling rows of A does not change F, and transposing A does not change its eigenvalues.
///
/// Elements begin as ±1/2 to ±1 with many digits. If they were ±1, A e could be exact in the type of the factors, or cancel, and F e be 0.
///
/// Each step takes a product with A and a solve, of four columns. Mostly two or three steps.
/// Source: Neumann's series; von Mises & Pollaczek-Geiringer, ZAMM 9, 1929.
template <class T, class Space>
double excess_of_inverse(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A) {
  constexpr double most_at_first = 4;
  constexpr std::int64_t columns = 4;
  const std::int64_t n = factors.order();
  const double small_enough = 0x1p-5 / std::sqrt(double(n));
  Matrix<T> first(n, columns);
  std::mt19937_64 random;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto bits = std::int64_t(random());
      first(i, j) = T(std::copysign(0.5 + std::ldexp(double(bits & ((std::int64_t(1) << 52) - 1)), -53), double(bits)));
    }
  Matrix<T, Space> E(n, columns), D(n, columns);
  const Settled settled(q);
  copy<T>(q, std::as_const(first).view(), E.view());
  const MatrixView<const T, Space> error = E.view(), correction = D.view();
  double sum = 1, rate = 0, before = 1, now = 1;
  for (int step = 1; now > small_enough; ++step, before = now) {
    fill(q, T(0), D.view());
    std::visit([&](const auto& a) { residual<T>(q, a, error, correction, D.view()); }, A);
    factors.apply(q, correction, D.view(), Op::none);
    add(q, correction, E.view());
    now = largest(*column_norms<T>(q, error));
    if (!(now <= (step == 1 ? most_at_first : before / 2))) return std::numeric_limits<double>::infinity();
    if (step > 1) rate = std::max(rate, now / before);
    sum += now;
  }
  return std::max(sum, 1 / (1 - rate));
}

}  // namespace lasolve
