// The smallest program: solve A x = b and see how good the answer is.
#include <cstdio>

#include "lasolve/lasolve.hpp"

int main() {
  const int n = 500;
  lasolve::Matrix<double> A(n, n), b(n, 1), x(n, 1);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) A(i, j) = i == j ? 3 : 1.0 / (1 + i + 2 * j);
  for (int i = 0; i < n; ++i) b(i, 0) = 1;

  const lasolve::Report report = lasolve::solve(A, b, x);
  if (!report.outcome.ok()) {
    std::printf("%s\n", report.outcome.message().c_str());
    return 1;
  }

  // ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞): about 1e-16 is all that double precision can give.
  std::printf("x(0) = %.15f, backward error %.1e, by %s on %s\n", x(0, 0), *report.backward_error, report.gemm.c_str(),
              report.device.c_str());
  return *report.backward_error < 1e-14 ? 0 : 1;
}
