// Whether two sets of measured times are of the same thing: a test on their distributions, since means follow outliers and minima
// follow luck.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace lasolve::bench {

/// The lower quartile, the median and the upper quartile. The middle half of the samples lies between the quartiles.
std::array<double, 3> quartiles_of(std::vector<double> samples);
double interquartile_range(const std::vector<double>& samples);

/// The standard error of the median as a share of it, from the distance d of the quartiles: 1.2533 · d / 1.349 / (√n median), which
/// is right for normal samples and not moved by outliers. Infinite for fewer than two samples, or a median that is not positive.
double noise_of(const std::vector<double>& samples);

/// What became of a time.
struct Change {
  enum Kind { same, faster, slower } kind = same;
  /// The time after is 1 + shift of the time before, and with the test's confidence between 1 + low and 1 + high. With fewer than six
  /// samples each, which are too few for the confidence, low is −1 and high infinite.
  double shift = 0, low = 0, high = 0;
  /// A slowdown by so much would have been found in 95 of 100 cases, as noisy as the samples are, whatever became of the machine.
  double visible = 0;
  /// What the machine is known to have done, which is taken off the others: the time after is (1 + shift) (1 + machine) of that before.
  double machine = 0;
  bool of_processors = false;  ///< of the time that runs had of processors, not of their time by the clock
};
/// "same", "faster" or "slower".
const char* name_of(Change::Kind);

/// Whether a slowdown of 3 % would have been found. Where it would not, that nothing was found says little.
bool tells(const Change&);
/// name_of() its kind; "unknown" where nothing was found, and it does not tell.
const char* word_of(const Change&);

/// Samples of each that a verdict takes at the least, with the confidence of ChangeTest.
inline constexpr std::size_t least_for_a_verdict = 6;

/// What may have become of the machine between two measurements: times after are between 1 + faster and 1 + slower of those before,
/// whatever ran. −1 < faster ≤ 0 ≤ slower. `known` comes on top, and is no more than known: times are 1 + known of those before. It is
/// above −1.
struct MachineChange {
  double faster = 0, slower = 0, known = 0;
};

struct ChangeTest {
  double z = 2.807;              ///< the quantile of the normal distribution for the confidence: 99.5 %
  double least_effect = 0.0175;  ///< a smaller shift is the same: so much the same code differs from day to day
  MachineChange machine = {};
};

/// Compares samples. shift is the Hodges–Lehmann estimate: the median of all log(after/before). [low, high] is the interval that
/// belongs to the rank test of Mann & Whitney (1947), by its normal approximation (Hollander, Wolfe & Chicken, Nonparametric
/// Statistical Methods, 4.2 and 4.3). What the machine is known to have done is taken off before. The interval is wider by what may have become of the machine, and by √((1 + r) / (1 − r)) where samples
/// have the correlation r > 0 with the one before them: then they tell as much as fewer that are independent. Not the same is what
/// has a shift of at least the least effect beyond that of the machine, and 0 outside of the interval.
///
/// Samples of one distribution are found to differ in at most 1 % of cases. Of 20 samples each with a spread (σ of the logarithm)
/// of 1 %, 5 % of them outliers, a shift of 3 % is found in at least 95 % of cases.
/// Throws std::invalid_argument where there are none, or one is not positive.
Change change_between(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& = {});

/// The same of samples that were taken in pairs, the two of a pair under the same circumstances: what these did to both is in neither.
/// shift is the median of the means of any two logarithms of after/before (Hodges & Lehmann), and [low, high] the interval that belongs
/// to the signed-rank test of Wilcoxon (1945), by its exact distribution. It takes nine pairs, and is wider where pairs have a
/// correlation with the one before them. Of the machine only what is `known` counts. Throws std::invalid_argument where there are not
/// as many of each.
Change change_of_pairs(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& = {});

/// The correlation of samples with the one before them, of their ranks, so that outliers count little; 0 of fewer than three, and
/// where all are equal. Several series count together. Few samples make it look smaller than it is, by (1 + 4 r) / count on average
/// (Marriott & Pope 1954), which is made good.
double correlation_of(const std::vector<std::vector<double>>& series);

}  // namespace lasolve::bench
