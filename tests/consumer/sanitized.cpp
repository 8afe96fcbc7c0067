// A program under a sanitizer, which the library knows nothing of: defaults, on all cores and from two threads.
#include <lasolve/lasolve.hpp>

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

/// A x = b with `diagonal` on the diagonal of A and ones everywhere else: x = 1 in every row.
static bool solves(std::size_t n, double diagonal) {
  std::vector<double> A(n * n, 1.0), b(n, double(n) - 1 + diagonal), x(n);
  for (std::size_t i = 0; i < n; ++i) A[i * n + i] = diagonal;
  A[1] = 1.5;  // not symmetric
  b[0] += 0.5;
  const auto rows = std::int64_t(n);
  const lasolve::Report report = lasolve::solve(lasolve::row_major(A, rows, rows), b, x);
  for (const double& value : x)
    if (std::abs(value - 1) > 1e-9) return false;
  return report.outcome.ok();
}

int main() {
  bool small = true, other = true, large = solves(700, 1500);
  std::thread thread([&] { other = solves(300, 700); });
  for (int i = 0; i < 100; ++i) small = small && solves(4, 10 + i);
  thread.join();
  for (int i = 0; i < 3; ++i) large = large && solves(500 + 50 * std::size_t(i), 1500);
  std::puts(small && other && large ? "all solved" : "not all solved");
  return small && other && large ? 0 : 1;
}
