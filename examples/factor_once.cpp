// Factor once, solve many: the 2/3 n³ operations of P A = L U are paid once, each right-hand side then costs 2 n².
// Here: inverse iteration, which finds the eigenvalue of A nearest to a shift, and needs one solve an iteration.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

#include "lasolve/lasolve.hpp"

int main() {
  // A: the second difference on n points. Its eigenvalues are known: 4 sin²(k π / (2 (n + 1))), k = 1 … n.
  const int n = 300;
  const double shift = 0.5;
  lasolve::Matrix<double> shifted(n, n);  // A − shift·I
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) shifted(i, j) = i == j ? 2 - shift : std::abs(i - j) == 1 ? -1 : 0;

  lasolve::Factorization<double> factors(shifted.view());
  if (!factors.report().outcome.ok()) return 1;

  std::vector<double> v(n), w(n);
  for (int i = 0; i < n; ++i) v[i] = std::sin(1.0 + i);  // a start that no eigenvector is orthogonal to
  double eigenvalue = 0, previous = 1;
  for (int iteration = 1; iteration <= 200 && std::abs(eigenvalue - previous) > 1e-14; ++iteration) {
    // w = (A − shift·I)⁻¹ v. A vector is a matrix of one column.
    const lasolve::Report report = factors.solve(std::span<const double>(v), std::span<double>(w));
    if (!report.outcome.ok()) return 1;

    double vw = 0, ww = 0;
    for (int i = 0; i < n; ++i) vw += v[i] * w[i], ww += w[i] * w[i];
    previous = eigenvalue;
    eigenvalue = shift + vw / ww;  // the Rayleigh quotient of w
    for (int i = 0; i < n; ++i) v[i] = w[i] / std::sqrt(ww);
    if (iteration <= 3 || iteration % 10 == 0) std::printf("%3d  %.15f\n", iteration, eigenvalue);
  }

  double nearest = 1e300;
  for (int k = 1; k <= n; ++k) {
    const double exact = 4 * std::pow(std::sin(k * std::numbers::pi / (2 * (n + 1))), 2);
    if (std::abs(exact - shift) < std::abs(nearest - shift)) nearest = exact;
  }
  std::printf("found %.15f, exact %.15f\n", eigenvalue, nearest);
  return std::abs(eigenvalue - nearest) < 1e-12 ? 0 : 1;
}
