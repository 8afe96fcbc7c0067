#include "solvers/refine/estimated_norms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "core/range.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

bool Signs::is_among(std::span<const Signs> others) const {
  return any_of(others, [&](const Signs& other) {
    const auto differ =
        std::transform_reduce(words_.begin(), words_.end(), other.words_.begin(), std::int64_t(0), std::plus(),
                              [](auto a, auto b) { return std::int64_t(std::popcount(a ^ b)); });
    return differ == 0 || differ == n_;
  });
}

Signs Signs::at_random(std::int64_t n, std::mt19937_64& random) {
  Signs its(n);
  for (Word& word : its.words_) word = random();
  if (n % bits != 0) its.words_.back() &= (Word(1) << (n % bits)) - 1;
  return its;
}

namespace {

using Random = std::mt19937_64;

/// What is parallel to one before it tells nothing new: random signs instead.
void replace_parallel(std::vector<Signs>& all, std::int64_t n, Random& random) {
  constexpr int most_attempts = 8;
  for (std::size_t j = 0; j < all.size(); ++j)
    for (int attempt = 0; attempt < most_attempts && all[j].is_among(std::span(all).first(j)); ++attempt)
      all[j] = Signs::at_random(n, random);
}

/// Columns whose magnitudes add up to 1: all equal, alternating and growing, and with random signs.
void set_first(ColumnsOfEstimate& X, Random& random) {
  const std::int64_t n = X.rows();
  std::vector<Signs> signs(2, Signs(n));
  for (std::int64_t j = 2; j < X.most; ++j) signs.push_back(Signs::at_random(n, random));
  replace_parallel(signs, n, random);
  X.set_signs(1 / double(n), signs);
  X.set_growing(1);
}

EstimatedNorms norms_by_all_columns(ColumnsOfEstimate& X, const std::function<void(Op)>& apply) {
  std::vector<std::int64_t> all(std::size_t(X.rows()), 0);
  std::iota(all.begin(), all.end(), 0);
  const auto norm = [&](Op op) {
    X.set_units(0, all);
    apply(op);
    return largest(X.sums());
  };
  const double one = norm(Op::none);
  return {one, norm(Op::transpose)};
}

/// Where the largest are, in falling order.
std::vector<std::int64_t> most_promising(const std::vector<double>& promises, std::size_t count) {
  std::vector<std::int64_t> best;
  const auto of = [&](std::int64_t i) { return promises[std::size_t(i)]; };
  double least = -1;  // of the best
  for (std::int64_t i = 0; i < std::int64_t(promises.size()); ++i) {
    if (!(of(i) > least)) continue;
    if (best.size() == count) best.pop_back();
    best.insert(std::find_if(best.begin(), best.end(), [&](std::int64_t j) { return of(i) > of(j); }), i);
    if (best.size() == count) least = of(best.back());
  }
  return best;
}

class ColumnsOnHost final : public ColumnsOfEstimate {
 public:
  explicit ColumnsOnHost(std::int64_t n) : X_(n, std::min(n, most)) {}

  MatrixView<double> view() { return X_.view(); }
  std::int64_t rows() const override { return X_.rows(); }
  void set_signs(double factor, const std::vector<Signs>& signs) override {
    const double both[2] = {factor, -factor};
    for (std::int64_t j = 0; j < std::int64_t(signs.size()); ++j)
      for (std::int64_t i = 0; i < rows(); ++i) X_(i, j) = both[signs[std::size_t(j)].is_negative(i)];
  }
  void set_growing(std::int64_t j) override {
    const auto n = double(rows());
    for (std::int64_t i = 0; i < rows(); ++i) X_(i, j) = (i % 2 == 0 ? 2.0 : -2.0) / 3 / n * (1 + double(i) / (n - 1));
  }
  void set_units(std::int64_t first, const std::vector<std::int64_t>& units) override {
    for (std::int64_t j = 0; j < std::int64_t(units.size()); ++j) {
      std::fill_n(&X_(0, first + j), rows(), 0.0);
      X_(units[std::size_t(j)], first + j) = 1;
    }
  }
  std::vector<double> sums() override {
    std::vector<double> sums(std::size_t(X_.cols()), 0.0);
    for_each([&](double x, std::int64_t, std::int64_t j) { sums[std::size_t(j)] += std::abs(x); });
    return sums;
  }
  std::vector<Signs> signs() override {
    std::vector<Signs> all;
    for (std::int64_t j = 0; j < X_.cols(); ++j)
      all.push_back(Signs::of(rows(), [&](std::int64_t i) { return !(X_(i, j) >= 0); }));
    return all;
  }
  std::vector<double> largest_of_rows() override {
    std::vector<double> largest_in(std::size_t(rows()), 0.0);
    for_each([&](double x, std::int64_t i, std::int64_t) {
      double& most_yet = largest_in[std::size_t(i)];
      most_yet = larger(most_yet, std::abs(x));
    });
    return largest_in;
  }

 private:
  template <class F>
  void for_each(F f) {
    for (std::int64_t j = 0; j < X_.cols(); ++j)
      for (std::int64_t i = 0; i < rows(); ++i) f(X_(i, j), i, j);
  }

  Matrix<double> X_;
};

}  // namespace

EstimatedNorms estimated_norms(ColumnsOfEstimate& X, const std::function<void(Op)>& apply) {
  const std::int64_t n = X.rows(), all = X.most, half = all / 2;
  if (n <= all) return norms_by_all_columns(X, apply);
  Random random;
  set_first(X, random);
  apply(Op::none);
  const std::vector<double> first = X.sums();
  if (const double most = largest(first); !std::isfinite(most)) return {most, most};

  const std::vector<Signs> all_signs = X.signs();
  std::vector<Signs> signs;
  for (const std::int64_t j : most_promising(first, std::size_t(half))) signs.push_back(all_signs[std::size_t(j)]);
  replace_parallel(signs, n, random);
  const std::vector<std::int64_t> rows = most_promising(X.largest_of_rows(), std::size_t(half));
  X.set_signs(1, signs), X.set_units(half, rows);
  // Now no element of row i exceeds the sum of column i of M, and the unit vectors have become rows of M.
  apply(Op::transpose);
  const std::vector<double> second = X.sums(), promises = X.largest_of_rows();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(largest(promises))) return {infinity, infinity};
  double of_rows = 0;
  for (std::int64_t j = 0; j < all; ++j)
    of_rows = std::max(of_rows, second[std::size_t(j)] / (j < half ? double(n) : 1));

  X.set_units(0, most_promising(promises, std::size_t(all)));
  apply(Op::none);
  return {larger(largest(first), largest(X.sums())), of_rows};
}

EstimatedNorms estimated_norms(std::int64_t n, const std::function<void(MatrixView<double> X, Op)>& apply) {
  ColumnsOnHost X(n);
  return estimated_norms(X, [&](Op op) { apply(X.view(), op); });
}

}  // namespace lasolve
