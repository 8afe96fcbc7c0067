// A program under a sanitizer, which the library knows nothing of: defaults, and products that threads of the library share, from several
// threads of the program, which make its first calls together.
#include <lasolve/lasolve.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

/// A x = b with `diagonal` on the diagonal of A and ones everywhere else: x = 1 in every row.
static bool solves(std::size_t n, double diagonal, const lasolve::Options& options = {}) {
  std::vector<double> A(n * n, 1.0), b(n, double(n) - 1 + diagonal), x(n);
  for (std::size_t i = 0; i < n; ++i) A[i * n + i] = diagonal;
  A[1] = 1.5;  // not symmetric
  b[0] += 0.5;
  const auto rows = std::int64_t(n);
  const lasolve::Report report = lasolve::solve(lasolve::row_major(A, rows, rows), b, x, options);
  for (const double& value : x)
    if (std::abs(value - 1) > 1e-9) return false;
  return report.outcome.ok();
}

int main() {
  std::atomic<bool> all = true;
  for (const lasolve::Options& options :
       {lasolve::Options(), {.threads = 4}, {.gemm = "packed", .threads = 4}, {.gemm = "tiled", .threads = 4}}) {
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < 3; ++i)
      callers.emplace_back([&, i] {
        if (!solves(300 + 50 * i, 1500, options)) all = false;
      });
    for (std::thread& caller : callers) caller.join();
  }
  all = all && solves(700, 1500);
  for (int i = 0; i < 100; ++i) all = all && solves(4, 10 + i);
  std::puts(all ? "all solved" : "not all solved");
  return all ? 0 : 1;
}
