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

void set_random_signs(MatrixView<double> x, Random& random) {
  for (std::int64_t i = 0; i < x.rows(); ++i) x(i, 0) = random() % 2 == 0 ? 1 : -1;
}

/// Which elements of a column are negative, a bit for each.
using Signs = std::vector<std::uint64_t>;

Signs signs_of(MatrixView<const double> x) {
  Signs its(std::size_t(ceil_div(x.rows(), 64)), 0);
  for (std::int64_t i = 0; i < x.rows(); ++i) its[std::size_t(i / 64)] |= std::uint64_t(x(i, 0) < 0) << (i % 64);
  return its;
}

/// Whether a column of ±1 with n rows is one of others, or the negative of one.
bool is_among(const Signs& its, std::int64_t n, std::span<const Signs> others) {
  return any_of(others, [&](const Signs& other) {
    const auto differ = std::transform_reduce(its.begin(), its.end(), other.begin(), std::int64_t(0), std::plus(),
                                              [](auto a, auto b) { return std::int64_t(std::popcount(a ^ b)); });
    return differ == 0 || differ == n;
  });
}

/// Columns of S that are parallel to one before them, or to one of `known`, tell nothing new: random signs instead. Those of all columns.
std::vector<Signs> replace_parallel(MatrixView<double> S, std::int64_t first, std::span<const Signs> known,
                                    Random& random) {
  constexpr int most_attempts = 8;
  std::vector<Signs> all;
  for (std::int64_t j = 0; j < S.cols(); ++j) {
    const auto column = S.columns(j, 1);
    Signs its = signs_of(column);
    for (int attempt = 0; j >= first && attempt < most_attempts; ++attempt) {
      if (!is_among(its, S.rows(), all) && !is_among(its, S.rows(), known)) break;
      set_random_signs(column, random);
      its = signs_of(column);
    }
    all.push_back(std::move(its));
  }
  return all;
}

/// Columns whose magnitudes add up to 1: all equal, alternating and growing, and with random signs.
void set_first(MatrixView<double> X, Random& random) {
  const std::int64_t n = X.rows();
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < n; ++i) X(i, j) = 1;
  for (std::int64_t j = 2; j < X.cols(); ++j) set_random_signs(X.columns(j, 1), random);
  replace_parallel(X, 1, {}, random);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < X.cols(); ++j) X(i, j) /= double(n);
    X(i, 1) = (i % 2 == 0 ? 2.0 : -2.0) / 3 / double(n) * (1 + double(i) / double(n - 1));
  }
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
  Matrix<double> X(n, t), S(n, t);
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

    bool nothing_new = round > 1;
    for (std::int64_t j = 0; j < t; ++j) {
      for (std::int64_t i = 0; i < n; ++i) S(i, j) = X(i, j) >= 0 ? 1 : -1;
      nothing_new = nothing_new && is_among(signs_of(S.view().columns(j, 1)), n, signs);
    }
    if (nothing_new) return best;
    signs = replace_parallel(S, 0, signs, random);

    apply(S, Op::transpose);  // row i of the result tells how much column i of M may give
    for (std::int64_t i = 0; i < n; ++i) {
      double most = 0;
      for (std::int64_t j = 0; j < t; ++j) most = larger(most, std::abs(S(i, j)));
      if (!std::isfinite(most)) return std::numeric_limits<double>::infinity();
      largest_in_row[std::size_t(i)] = most;
    }
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
    for (std::int64_t j = 0; j < t; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        X(i, j) = std::size_t(j) < units.size() && units[std::size_t(j)] == i ? 1 : 0;
  }
}

}  // namespace lasolve
