// Gaussian-process regression: a smooth function from noisy samples, with an error bar at every point.
//
// With K(i, j) = k(xᵢ, xⱼ) + σ²·(i = j) for samples yᵢ of noise σ, the posterior at a point t is
//
//     mean      k(t, x)ᵀ K⁻¹ y
//     variance  k(t, t) − k(t, x)ᵀ K⁻¹ k(x, t)
//
// K is symmetric positive definite: one Cholesky factorization serves y and every point t, as columns of one solve.
#include <cmath>
#include <cstdio>
#include <random>

#include "lasolve/lasolve.hpp"

using namespace lasolve;

static double truth(double x) { return std::sin(2 * x) + 0.5 * std::cos(5 * x); }

/// Squared exponential: points closer than the length scale have alike values.
static double kernel(double x, double t) {
  const double length = 0.4;
  return std::exp(-(x - t) * (x - t) / (2 * length * length));
}

int main() {
  const int samples = 400, points = 51;
  const double noise = 0.1, end = 4;
  const auto sample_at = [&](int i) { return end * i / (samples - 1); };
  const auto point_at = [&](int p) { return end * p / (points - 1); };

  Matrix<double> K(samples, samples);
  for (int j = 0; j < samples; ++j)
    for (int i = 0; i < samples; ++i) K(i, j) = kernel(sample_at(i), sample_at(j)) + (i == j ? noise * noise : 0);

  // B = [y, k(x, t₁), k(x, t₂), …]
  Matrix<double> B(samples, 1 + points), X(samples, 1 + points);
  std::mt19937_64 random(2);
  std::normal_distribution<double> gauss(0, noise);
  for (int i = 0; i < samples; ++i) B(i, 0) = truth(sample_at(i)) + gauss(random);
  for (int p = 0; p < points; ++p)
    for (int i = 0; i < samples; ++i) B(i, 1 + p) = kernel(sample_at(i), point_at(p));

  Options options;
  options.factorization = Method::cholesky;
  const Report report = solve(K, B, X, options);
  if (!report.outcome.ok()) return std::printf("%s\n", report.outcome.message().c_str()), 1;

  std::printf("    t      truth       mean  deviation\n");
  double squares = 0;
  int inside = 0;
  for (int p = 0; p < points; ++p) {
    double mean = 0, variance = kernel(point_at(p), point_at(p));
    for (int i = 0; i < samples; ++i) {
      mean += B(i, 1 + p) * X(i, 0);
      variance -= B(i, 1 + p) * X(i, 1 + p);
    }
    const double error = mean - truth(point_at(p)), deviation = std::sqrt(variance);
    squares += error * error;
    inside += std::abs(error) < 3 * deviation;
    if (p % 5 == 0) std::printf("%5.2f  %9.5f  %9.5f  %9.5f\n", point_at(p), truth(point_at(p)), mean, deviation);
  }
  const double rms = std::sqrt(squares / points);
  std::printf("error %.4f (root mean square) from samples of noise %.1f; %d of %d points within 3 deviations\n", rms,
              noise, inside, points);
  return rms < noise / 3 && inside >= 0.9 * points ? 0 : 1;
}
