#include <lasolve/lasolve.hpp>

#include <cmath>
#include <cstdio>

// Solves [2 1; 1 3] x = [3; 5], of which the solution is [0.8; 1.4].
int main() {
  const double A[] = {2, 1, 1, 3}, b[] = {3, 5};
  double x[2];
  const lasolve::Report report = lasolve::solve({A, 2, 2, 2}, {b, 2, 1, 2}, {x, 2, 1, 2});
  std::printf("lasolve %s: %s, x = (%g, %g)\n", lasolve::version(), report.outcome.name().c_str(), x[0], x[1]);
  return report.outcome.ok() && std::abs(x[0] - 0.8) < 1e-15 && std::abs(x[1] - 1.4) < 1e-15 ? 0 : 1;
}
