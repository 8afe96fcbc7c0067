// Whether two sets of measured times are of the same thing: a test on their distributions, since means follow outliers and minima
// follow luck.
#pragma once

#include <cstddef>
#include <vector>

namespace lasolve::bench {

/// How far the quartiles are apart: the middle half of the samples lies between them.
double quartiles_apart(std::vector<double> samples);

/// The standard error of the median as a share of it, from the distance d of the quartiles: 1.2533 · d / 1.349 / (√n median), which
/// is right for normal samples and not moved by outliers. Infinite for fewer than two samples, or a median that is not positive.
double noise_of(const std::vector<double>& samples);

/// What became of a time.
struct Change {
  enum Kind { same, faster, slower } kind = same;
  /// The time after is 1 + shift of the time before, and with the test's confidence between 1 + low and 1 + high. With fewer than six
  /// samples each, which are too few for the confidence, low is −1 and high infinite.
  double shift = 0, low = 0, high = 0;
};
/// "same", "faster" or "slower".
const char* name_of(Change::Kind);

/// Samples of each that a verdict takes at the least, with the confidence of ChangeTest.
inline constexpr std::size_t least_for_a_verdict = 6;

struct ChangeTest {
  double z = 2.807;             ///< the quantile of the normal distribution for the confidence: 99.5 %
  double least_effect = 0.015;  ///< a smaller shift is the same: so much the same code differs from day to day
};

/// Compares samples. shift is the Hodges–Lehmann estimate: the median of all log(after/before). [low, high] is the interval that
/// belongs to the rank test of Mann & Whitney (1947), by its normal approximation (Hollander, Wolfe & Chicken, Nonparametric
/// Statistical Methods, 4.2 and 4.3). Not the same is what has a shift of at least the least effect, and 0 outside of the interval.
///
/// Samples of one distribution are found to differ in at most 1 % of cases. Of 20 samples each with a spread (σ of the logarithm)
/// of 1 %, 5 % of them outliers, a shift of 3 % is found in at least 95 % of cases; with a spread of 2 % it takes 35.
/// Throws std::invalid_argument where there are none, or one is not positive.
Change change_between(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& = {});

}  // namespace lasolve::bench
