// A plugin that holds the library.
#include <lasolve/lasolve.h>

#include <cmath>
#include <vector>

/// Whether A x = b is solved, with n on the diagonal of A and ones elsewhere.
extern "C" int plugin_solves(int n) {
  std::vector<double> A(std::size_t(n) * std::size_t(n), 1.0), b(std::size_t(n), 2.0 * n - 1), x(std::size_t(n), 0.0);
  for (int i = 0; i < n; ++i) A[std::size_t(i) * std::size_t(n + 1)] = n;
  return lasolve_dsolve(n, 1, A.data(), n, b.data(), n, x.data(), n, nullptr, nullptr) == LASOLVE_OK &&
         std::abs(x[0] - 1) < 1e-9 && std::abs(x.back() - 1) < 1e-9;
}
