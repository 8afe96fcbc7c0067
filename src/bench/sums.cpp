#include "bench/sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lasolve::bench {

namespace {

/// As the vectors of any processor; where they are shorter, the compiler takes several.
typedef double Eight __attribute__((vector_size(64)));
typedef double EightInMemory __attribute__((vector_size(64), aligned(8), may_alias));

void sum_tile(std::int64_t steps, const double* a, const double* b, Eight* sums) {
  Eight s0{}, s1{}, s2{}, s3{};
  for (std::int64_t l = 0; l < steps; ++l) {
    const Eight x = *reinterpret_cast<const EightInMemory*>(a + 8 * l);
    s0 += x * b[4 * l], s1 += x * b[4 * l + 1], s2 += x * b[4 * l + 2], s3 += x * b[4 * l + 3];
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/// The least power of two above |x|, which is 1 for zero.
double power_above(double x) { return x == 0 ? 1 : std::ldexp(1.0, std::ilogb(x) + 1); }

/// So many bits that sums of k products of two such numbers have 53.
int bits_of_high(std::int64_t k) { return (53 - int(std::bit_width(std::uint64_t(k)))) / 2; }

/// Leaves the high parts in x, and gives the low ones.
template <int width>
Strips<width> split(std::int64_t count, Strips<width>& x) {
  Strips<width> low(count, x.steps);
  const int bits = bits_of_high(x.steps);
  for (std::int64_t i = 0; i < count; ++i) {
    double most = 0;
    for (std::int64_t l = 0; l < x.steps; ++l) most = std::max(most, std::abs(x(i, l)));
    const double unit = std::ldexp(power_above(most), -bits), in_units = 1 / unit;
    for (std::int64_t l = 0; l < x.steps; ++l) {
      const double high = std::nearbyint(x(i, l) * in_units) * unit;
      low(i, l) = x(i, l) - high;
      x(i, l) = high;
    }
  }
  return low;
}

/// The steps of one behind those of another.
template <int width>
Strips<width> joined(std::int64_t count, const Strips<width>& first, const Strips<width>& second) {
  Strips<width> both(count, first.steps + second.steps);
  for (std::int64_t strip = 0; strip < ceil_div(count, width); ++strip) {
    const auto at = std::copy_n(first.elements.begin() + strip * first.steps * width, first.steps * width,
                                both.elements.begin() + strip * both.steps * width);
    std::copy_n(second.elements.begin() + strip * second.steps * width, second.steps * width, at);
  }
  return both;
}

/// Step l of one is multiplied by what the other is divided by, without rounding: the largest of a in each step is about 1.
void balance_steps(std::int64_t m, std::int64_t n, RowStrips& a, ColumnStrips& b) {
  for (std::int64_t l = 0; l < a.steps; ++l) {
    double most = 0;
    for (std::int64_t i = 0; i < m; ++i) most = std::max(most, std::abs(a(i, l)));
    const double power = power_above(most);
    for (std::int64_t i = 0; i < m; ++i) a(i, l) *= 1 / power;
    for (std::int64_t j = 0; j < n; ++j) b(j, l) *= power;
  }
}

}  // namespace

void sum_products(const RowStrips& a, const ColumnStrips& b, std::int64_t first, std::int64_t columns,
                  MatrixView<double> sums) {
  for (std::int64_t j = first; j < first + columns; j += 4)
    for (std::int64_t i = 0; i < sums.rows(); i += 8) {
      Eight tile[4];
      sum_tile(a.steps, a.elements.data() + i * a.steps, b.elements.data() + j * b.steps, tile);
      for (std::int64_t c = 0; c < std::min<std::int64_t>(4, first + columns - j); ++c)
        for (std::int64_t r = 0; r < std::min<std::int64_t>(8, sums.rows() - i); ++r) sums(i + r, j + c) = tile[c][r];
    }
}

SplitProducts::SplitProducts(std::int64_t m, std::int64_t n, RowStrips a, ColumnStrips b)
    : high_a_((balance_steps(m, n, a, b), std::move(a))), of_low_a_(0, 0), high_b_(std::move(b)), of_low_b_(0, 0) {
  const ColumnStrips all_b = high_b_;
  const RowStrips low_a = split(m, high_a_);
  const ColumnStrips low_b = split(n, high_b_);
  of_low_a_ = joined(m, high_a_, low_a), of_low_b_ = joined(n, low_b, all_b);
}

void SplitProducts::operator()(std::int64_t first, std::int64_t columns, MatrixView<double> high,
                               MatrixView<double> low) const {
  sum_products(high_a_, high_b_, first, columns, high);
  sum_products(of_low_a_, of_low_b_, first, columns, low);
}

}  // namespace lasolve::bench
