#include "bench/product.hpp"

#include <algorithm>
#include <string_view>

#include "core/sizes.hpp"

namespace lasolve::bench {

Product square(std::int64_t n) { return {"square", n, n, n, 1, 0}; }
Product trailing(std::int64_t n, std::int64_t k) { return {"trailing", n, n, k, -1, 1}; }

std::optional<Product> parse_product(const std::string& text) {
  Product p{"given"};
  std::string_view rest = text;
  for (std::int64_t* size : {&p.m, &p.n, &p.k}) {
    const std::size_t end = size == &p.k ? rest.size() : rest.find('x');
    const auto value = whole_number(rest.substr(0, end));
    if (end == rest.npos || !value || *value < 1) return std::nullopt;
    *size = *value;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
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
