// Whether coarse factors show how ill-conditioned A is.
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
#include "solvers/refine/one_norm.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// How much larger A⁻¹ may be than M⁻¹, by which the factors solve: an estimate of ‖(I − F)⁻¹‖∞ with F = I − M⁻¹A, as A⁻¹ = (I − F)⁻¹M⁻¹.
/// Infinite: A may have a tiny singular value that M does not show.
///
/// F has an eigenvalue near 1 then. A step of classical refinement makes F e of an error e. Random signs contain some 1/√n of each
/// eigenvector, and that of 1 stays. So this is the power method: errors that begin as signs have to halve in each step but the first, down
/// to 2⁻⁵/√n, and the estimate is Σ‖Fᵏs‖∞. Scaling rows of A does not change F, and transposing A does not change its eigenvalues.
///
/// A product with A and a solve of four columns for each step, mostly two or three.
/// Source: Neumann's series; von Mises & Pollaczek-Geiringer, ZAMM 9, 1929.
template <class T, class Space>
double excess_of_inverse(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A) {
  constexpr double most_at_first = 4;
  constexpr std::int64_t columns = 4;
  const std::int64_t n = factors.order();
  const double small_enough = 0x1p-5 / std::sqrt(double(n));
  Matrix<T> signs(n, columns);
  std::mt19937_64 random;
  for (std::int64_t j = 0; j < columns; ++j) {
    const Signs its = Signs::at_random(n, random);
    for (std::int64_t i = 0; i < n; ++i) signs(i, j) = T(its.is_negative(i) ? -1 : 1);
  }
  Matrix<T, Space> E(n, columns), D(n, columns);
  const Settled settled(q);
  copy<T>(q, std::as_const(signs).view(), E.view());
  const MatrixView<const T, Space> error = E.view(), correction = D.view();
  double sum = 1;
  for (double most = most_at_first, now = 1; now > small_enough; most = now / 2, sum += now) {
    fill(q, T(0), D.view());
    std::visit([&](const auto& a) { residual<T>(q, a, error, correction, D.view()); }, A);
    factors.apply(q, correction, D.view(), Op::none);
    add(q, correction, E.view());
    now = largest(*column_norms<T>(q, error));
    if (!(now <= most)) return std::numeric_limits<double>::infinity();
  }
  return sum;
}

}  // namespace lasolve
