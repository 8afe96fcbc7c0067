// Sums of products, as an oracle needs them: many, and with more digits than double has.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ceil_div.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::bench {

/// Rows of op(A), or columns of op(B): `width` of them side by side, step after step. Behind the last there are zeros.
template <int width>
struct Strips {
  std::int64_t steps;
  std::vector<double> elements;

  Strips(std::int64_t count, std::int64_t steps)
      : steps(steps), elements(std::size_t(round_up(count, width) * steps), 0) {}
  double& operator()(std::int64_t at, std::int64_t step) {
    return elements[std::size_t((at / width * steps + step) * width + at % width)];
  }
};
using RowStrips = Strips<8>;
using ColumnStrips = Strips<4>;

/// Columns [first, first + columns) of the matrix of Σ a(i, l)·b(l, j) in double, with l in no order; `first` is a multiple of 4.
void sum_products(const RowStrips& a, const ColumnStrips& b, std::int64_t first, std::int64_t columns,
                  MatrixView<double> sums);

/// Numbers x = high + low such that sums of products of high parts need no rounding, however many steps they have
/// (Ozaki, Ogita, Oishi & Rump, Numer. Algorithms 59, 2012). With them Σ a·b = Σ high(a)·high(b) + Σ (high(a)·low(b) + low(a)·b),
/// where rounding in the second sum is beyond the digits of long double.
class SplitProducts {
 public:
  /// Of a(i, l), m × k, and b(l, j), k × n, which are finite.
  SplitProducts(std::int64_t m, std::int64_t n, RowStrips a, ColumnStrips b);
  void operator()(std::int64_t first, std::int64_t columns, MatrixView<double> high, MatrixView<double> low) const;

 private:
  RowStrips high_a_, of_low_a_;
  ColumnStrips high_b_, of_low_b_;
};

}  // namespace lasolve::bench
