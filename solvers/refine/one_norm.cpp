#include "solvers/refine/one_norm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/range.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

namespace {

constexpr std::int64_t most_guesses = 4;
constexpr int most_rounds = 3;  // of one product with M, and one with Mᵀ but in the last

using Random = std::minstd_rand;

/// A column of ±1: which of its elements are negative, a bit each.
class Signs {
 public:
  explicit Signs(std::int64_t n) : n_(n), bits_(std::size_t(ceil_div(n, 64)), 0) {}
  static Signs of(MatrixView<const double> x) {
    Signs its(x.rows());
    for (std::int64_t i = 0; i < its.n_; ++i) its.set(i, !(x(i, 0) >= 0));
    return its;
  }
  static Signs any(std::int64_t n, Random& random) {
    Signs its(n);
    for (std::int64_t i = 0; i < n; ++i) its.set(i, random() % 2 != 0);
    return its;
  }
  /// x ← factor times it.
  void write(double factor, MatrixView<double> x) const {
    const double both[2] = {factor, -factor};
    for (std::int64_t i = 0; i < n_; ++i) x(i, 0) = both[bits_[std::size_t(i / 64)] >> (i % 64) & 1];
  }
  /// Whether it is one of others, or the negative of one.
  bool is_among(std::span<const Signs> others) const {
    return any_of(others, [&](const Signs& other) {
      const auto differ =
          std::transform_reduce(bits_.begin(), bits_.end(), other.bits_.begin(), std::int64_t(0), std::plus(),
                                [](auto a, auto b) { return std::int64_t(std::popcount(a ^ b)); });
      return differ == 0 || differ == n_;
    });
  }

 private:
  void set(std::int64_t i, bool is_negative) { bits_[std::size_t(i / 64)] |= std::uint64_t(is_negative) << (i % 64); }

  std::int64_t n_;
  std::vector<std::uint64_t> bits_;
};

/// What is parallel to one before it, or to one of `known`, tells nothing new: random signs instead.
void replace_parallel(std::vector<Signs>& all, std::span<const Signs> known, std::int64_t n, Random& random) {
  constexpr int most_attempts = 8;
  for (std::size_t j = 0; j < all.size(); ++j)
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      if (!all[j].is_among(std::span(all).first(j)) && !all[j].is_among(known)) break;
      all[j] = Signs::any(n, random);
    }
}

/// Columns whose magnitudes add up to 1: all equal, alternating and growing, and with random signs.
void set_first(MatrixView<double> X, Random& random) {
  const std::int64_t n = X.rows();
  std::vector<Signs> signs(2, Signs(n));
  for (std::int64_t j = 2; j < X.cols(); ++j) signs.push_back(Signs::any(n, random));
  replace_parallel(signs, {}, n, random);
  for (std::int64_t j = 0; j < X.cols(); ++j) signs[std::size_t(j)].write(1 / double(n), X.columns(j, 1));
  for (std::int64_t i = 0; i < n; ++i)
    X(i, 1) = (i % 2 == 0 ? 2.0 : -2.0) / 3 / double(n) * (1 + double(i) / double(n - 1));
}

std::vector<double> column_sums(MatrixView<const double> X) {
  std::vector<double> sums(std::size_t(X.cols()), 0.0);
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) sums[std::size_t(j)] += std::abs(X(i, j));
  return sums;
}

double one_norm_by_columns(std::int64_t n, const Application& apply) {
  Matrix<double> X(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) X(i, j) = i == j ? 1 : 0;
  apply(X, Op::none);
  return largest(column_sums(X.view()));
}

}  // namespace

double one_norm_estimate(std::int64_t n, const Application& apply) {
  if (n <= most_guesses) return one_norm_by_columns(n, apply);
  const std::int64_t t = most_guesses;
  Random random;
  Matrix<double> X(n, t);
  std::vector<Signs> signs;                                          // of the last round
  std::vector<std::int64_t> units, tried, order(std::size_t(n), 0);  // units: X has these unit vectors as its columns
  std::vector<double> largest_in_row(std::size_t(n), 0.0);
  set_first(X, random);
  double best = 0;
  for (int round = 1;; ++round) {
    apply(X, Op::none);
    const std::vector<double> sums = column_sums(X.view());
    const auto at = std::size_t(std::max_element(sums.begin(), sums.end()) - sums.begin());
    const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
    if (!std::isfinite(all)) return all;
    if (sums[at] <= best) return best;
    best = sums[at];
    if (round == most_rounds) return best;

    std::vector<Signs> next;
    for (std::int64_t j = 0; j < t; ++j) next.push_back(Signs::of(X.view().columns(j, 1)));
    if (std::all_of(next.begin(), next.end(), [&](const Signs& its) { return its.is_among(signs); })) return best;
    replace_parallel(next, signs, n, random);
    signs = std::move(next);
    for (std::int64_t j = 0; j < t; ++j) signs[std::size_t(j)].write(1, X.view().columns(j, 1));

    apply(X, Op::transpose);  // row i of the result tells how much column i of M may give
    std::fill(largest_in_row.begin(), largest_in_row.end(), 0.0);
    for (std::int64_t j = 0; j < t; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        double& most = largest_in_row[std::size_t(i)];
        most = larger(most, std::abs(X(i, j)));
      }
    if (!std::isfinite(largest(largest_in_row))) return std::numeric_limits<double>::infinity();
    const auto promises = [&](std::int64_t i) { return largest_in_row[std::size_t(i)]; };
    const std::int64_t candidates = std::min(n, t * most_rounds);
    std::iota(order.begin(), order.end(), std::int64_t(0));
    std::partial_sort(order.begin(), order.begin() + candidates, order.end(), [&](auto i, auto j) {
      return promises(i) > promises(j) || (promises(i) == promises(j) && i < j);
    });
    if (round > 1 && promises(units[at]) == promises(order[0])) return best;
    const auto is_new = [&](std::int64_t i) { return std::find(tried.begin(), tried.end(), i) == tried.end(); };
    if (std::none_of(order.begin(), order.begin() + t, is_new)) return best;
    units.clear();
    for (std::int64_t c = 0; c < candidates && std::int64_t(units.size()) < t; ++c)
      if (is_new(order[std::size_t(c)])) units.push_back(order[std::size_t(c)]);
    tried.insert(tried.end(), units.begin(), units.end());
    std::fill_n(X.data(), X.ld() * t, 0.0);
    for (std::size_t j = 0; j < units.size(); ++j) X(units[j], std::int64_t(j)) = 1;
  }
}

}  // namespace lasolve
