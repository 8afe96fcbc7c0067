// Whether coarse factors show how ill-conditioned A is.
#pragma once

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

/// How much larger than M⁻¹, by which the factors solve, the inverse of A may be: an estimate of ‖(I − F)⁻¹‖∞ with F = I − M⁻¹A, as
/// A⁻¹ = (I − F)⁻¹M⁻¹. Infinite: A may have a tiny singular value that M does not show. Then F has an eigenvalue near 1.
///
/// This is the power method. A step of classical refinement makes F e of an error e. Random vectors contain some 1/√n of each eigenvector, and that of
/// 1 stays. So errors that begin as random vectors have to halve in each step but the first, down to 2⁻⁵/√n, and the estimate
/// is Σ‖Fᵏe‖∞. Scaling rows of A does not change F, and transposing A does not change its eigenvalues.
///
/// Elements are ±1/2 to ±1 with many digits. If they were ±1, A e could be exact in the type of the factors, or cancel, and F e be 0 by chance.
///
/// A product with A and a solve of four columns for each step, mostly two or three.
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
