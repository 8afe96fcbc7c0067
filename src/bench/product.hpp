// What is measured, C ← α·A·B + β·C, and the numbers that are made of seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lasolve/precision.hpp"

namespace lasolve::bench {

/// Bytes of an element of A and B, and of C.
struct ElementSizes {
  std::size_t operand = 0, result = 0;
};
template <Precision P>
inline constexpr ElementSizes element_sizes{sizeof(typename Arithmetic<P>::Operand),
                                            sizeof(typename Arithmetic<P>::Result)};

struct Product {
  std::string shape;  ///< "square", "trailing", or "given" by its sizes
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;

  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
  /// The least that must be moved: A and B are read, C is written, and read unless β = 0.
  double bytes(ElementSizes size) const {
    const double a = double(m) * double(k), b = double(k) * double(n), c = double(m) * double(n);
    return double(size.operand) * (a + b) + double(size.result) * (beta == 0 ? c : 2 * c);
  }
};

/// C ← A·B, n × n.
Product square(std::int64_t n);
/// C ← C − A·B with C n × n, as a panel of k columns updates what is behind it.
Product trailing(std::int64_t n, std::int64_t k);
/// C ← A·B of "MxNxK"; nothing if the text is no three whole numbers from 1.
std::optional<Product> parse_product(const std::string& text);

/// Of several runs.
struct Spread {
  double least = 0, median = 0, most = 0;
};
/// The median of an even number is the mean of the two in the middle.
Spread spread_of(std::vector<double> values);

/// What a device can do at most, as measured.
struct Roof {
  double flops_per_second = 0, bytes_per_second = 0;
  /// The roofline (Williams, Waterman & Patterson, CACM 2009) as time: arithmetic and traffic overlap at best.
  double floor_seconds(const Product&, ElementSizes) const;
};

}  // namespace lasolve::bench
