#include "bench/product.hpp"

#include <algorithm>
#include <charconv>

namespace lasolve::bench {

Product square(std::int64_t n) { return {"square", n, n, n, 1, 0}; }
Product trailing(std::int64_t n, std::int64_t k) { return {"trailing", n, n, k, -1, 1}; }

std::optional<Product> parse_product(const std::string& text) {
  Product p{"given"};
  const char *at = text.data(), *end = at + text.size();
  for (std::int64_t* size : {&p.m, &p.n, &p.k}) {
    if (size != &p.m && (at == end || *at++ != 'x')) return std::nullopt;
    const auto [stop, e] = std::from_chars(at, end, *size);
    if (e != std::errc() || *size < 1) return std::nullopt;
    at = stop;
  }
  if (at != end) return std::nullopt;
  return p;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {values.front(), (values[(n - 1) / 2] + values[n / 2]) / 2, values.back()};
}

double Roof::floor_seconds(const Product& p, ElementSizes size) const {
  return std::max(p.flops() / flops_per_second, p.bytes(size) / bytes_per_second);
}

}  // namespace lasolve::bench
