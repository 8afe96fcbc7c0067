// Residuals in twice the precision on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/level.hpp"
#include "core/cpu/parallel.hpp"
#include "core/symmetric.hpp"
#include "solvers/devices/cpu/levels/extra.hpp"

namespace lasolve {

LASOLVE_DECLARE_LEVELS(ExtraProductsOfEach, extra_products)

/// Sums in two parts of some rows of a residual, by columns: of a complex one, the real and the imaginary parts side by side.
template <class T>
class SumsInTwo {
 public:
  /// Begins with B.
  explicit SumsInTwo(MatrixView<const T> B) : rows_(parts * B.rows()), hi_(rows_ * B.cols()), lo_(hi_.size(), 0.0) {
    for (std::int64_t j = 0; j < B.cols(); ++j)
      for (std::int64_t i = 0; i < B.rows(); ++i) set(hi_.data() + std::int64_t(rows_) * j + parts * i, B(i, j));
  }

  /// Rows first, … ← those − A (X + tail) for an op(A) of a few rows.
  void subtract(std::int64_t first, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> tail) {
    for (std::int64_t j = 0; j < X.cols(); ++j) {
      const auto at = std::size_t(std::int64_t(rows_) * j + parts * first);
      subtract(A, X.columns(j, 1), tail.columns(j, 1), hi_.data() + at, lo_.data() + at);
    }
  }

  void round_to(MatrixView<T> R) const {
    for (std::int64_t j = 0; j < R.cols(); ++j)
      for (std::int64_t i = 0; i < R.rows(); ++i) {
        const auto at = std::size_t(std::int64_t(rows_) * j + parts * i);
        if constexpr (ComplexElement<T>)
          R(i, j) = {real_of<T>(hi_[at] + lo_[at]), real_of<T>(hi_[at + 1] + lo_[at + 1])};
        else
          R(i, j) = T(hi_[at] + lo_[at]);
      }
  }

 private:
  static constexpr std::int64_t parts = ComplexElement<T> ? 2 : 1;

  static void set(double* to, T x) {
    if constexpr (ComplexElement<T>)
      to[0] = double(x.real()), to[1] = double(x.imag());
    else
      to[0] = double(x);
  }

  static void subtract(Operand<T, Cpu> A, MatrixView<const T> x, MatrixView<const T> tail, double* hi, double* lo) {
    const auto& by = *LASOLVE_AT_LEVEL_HERE(extra_products);
    const MatrixView<const T> stored = A.stored();
    if constexpr (!ComplexElement<T>) {
      const ExtraProducts<T>& its = by;
      const auto f = A.op() == Op::none ? its.subtract_product : its.subtract_transposed;
      f(stored.rows(), stored.cols(), stored.data(), stored.ld(), x.data(), tail.data(), hi, lo);
    } else {
      const ExtraProducts<real_of<T>>& its = by;
      for (std::int64_t i = 0; i < A.rows(); ++i)
        for (std::int64_t k = 0; k < A.cols(); ++k) {
          const T a = A(i, k), xk = x(k, 0), tk = tail(k, 0);
          const auto add = [&](real_of<T> of_a, real_of<T> of_x, real_of<T> of_tail, std::int64_t to) {
            its.subtract_product(1, 1, &of_a, 1, &of_x, &of_tail, hi + 2 * i + to, lo + 2 * i + to);
          };
          add(a.real(), xk.real(), tk.real(), 0), add(-a.imag(), xk.imag(), tk.imag(), 0);
          add(a.real(), xk.imag(), tk.imag(), 1), add(a.imag(), xk.real(), tk.real(), 1);
        }
    }
  }

  std::size_t rows_;
  std::vector<double> hi_, lo_;
};

/// f(first, count) for blocks of [0, n), of which a share of rows in two parts and a block of columns stay in a cache.
template <class F>
void by_blocks(std::int64_t n, F f) {
  constexpr std::int64_t block = 256;
  for (std::int64_t first = 0; first < n; first += block) f(first, std::min(block, n - first));
}

/// R ← B − A (X + tail), in twice the precision of T and rounded to it.
template <class T>
void residual_in_two(Queue<Cpu>& q, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> tail,
                     MatrixView<const T> B, MatrixView<T> R) {
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t begin, std::int64_t rows) {
    by_blocks(rows, [&](std::int64_t first, std::int64_t m) {
      const std::int64_t i = begin + first;
      SumsInTwo<T> sums(B.block(i, 0, m, B.cols()));
      by_blocks(A.cols(), [&](std::int64_t k, std::int64_t n) {
        sums.subtract(0, A.block(i, k, m, n), X.block(k, 0, n, X.cols()), tail.block(k, 0, n, X.cols()));
      });
      sums.round_to(R.block(i, 0, m, R.cols()));
    });
  });
}
/// The same of a symmetric A, whose diagonal blocks are written out.
template <class T>
void residual_in_two(Queue<Cpu>& q, Symmetric<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> tail,
                     MatrixView<const T> B, MatrixView<T> R) {
  const std::int64_t n = A.rows();
  on_shares(q, n, double(n) * double(n), [&](std::int64_t begin, std::int64_t rows) {
    by_blocks(rows, [&](std::int64_t first, std::int64_t m) {
      const std::int64_t i = begin + first;
      SumsInTwo<T> sums(B.block(i, 0, m, B.cols()));
      const auto subtract = [&](Operand<T, Cpu> block, std::int64_t k) {
        sums.subtract(0, block, X.block(k, 0, block.cols(), X.cols()), tail.block(k, 0, block.cols(), X.cols()));
      };
      Matrix<T> diagonal(m, m);
      for (std::int64_t c = 0; c < m; ++c)
        for (std::int64_t r = 0; r < m; ++r) diagonal(r, c) = A(i + r, i + c);
      subtract(std::as_const(diagonal).view(), i);
      by_blocks(i, [&](std::int64_t k, std::int64_t some) { subtract(A.half.block(i, k, m, some), k); });
      by_blocks(n - i - m, [&](std::int64_t k, std::int64_t some) {
        const std::int64_t below = i + m + k;
        subtract(transposed(A.half.block(below, i, some, m)), below);
      });
      sums.round_to(R.block(i, 0, m, R.cols()));
    });
  });
}

/// X + tail ← X + tail + D, where X is what that is rounded to.
template <class T>
void add_in_two(Queue<Cpu>&, MatrixView<const T> D, MatrixView<T> X, MatrixView<T> tail) {
  const auto add = [](real_of<T> d, real_of<T> x, real_of<T> low) {
    const real_of<T> sum = x + d, part = sum - x, rest = ((x - (sum - part)) + (d - part)) + low;
    const real_of<T> rounded = sum + rest;
    return std::pair(rounded, std::isfinite(rounded) ? rest - (rounded - sum) : 0);
  };
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i)
      if constexpr (ComplexElement<T>) {
        const auto re = add(D(i, j).real(), X(i, j).real(), tail(i, j).real());
        const auto im = add(D(i, j).imag(), X(i, j).imag(), tail(i, j).imag());
        X(i, j) = {re.first, im.first}, tail(i, j) = {re.second, im.second};
      } else {
        std::tie(X(i, j), tail(i, j)) = add(D(i, j), X(i, j), tail(i, j));
      }
}

}  // namespace lasolve
