// Textbook counts of floating-point operations: those of tasks, and those from which rates are computed.
#pragma once

#include "lasolve/lasolve.hpp"

namespace lasolve {

constexpr double cube(double n) { return n * n * n; }
/// P A = L U, n × n; and of a panel, m × n.
constexpr double lu_flops(double n) { return 2.0 / 3.0 * cube(n); }
constexpr double lu_panel_flops(double m, double n) { return m * n * n - n * n * n / 3; }
/// A = L Lᵀ, n × n; and of a panel, m × n, with its diagonal block.
constexpr double cholesky_flops(double n) { return 1.0 / 3.0 * n * n * n; }
constexpr double cholesky_panel_flops(double m, double n) { return m * n * n - 2.0 / 3.0 * n * n * n; }
/// C ← C − L L1ᵀ for k columns of L and a block column C, m × n, from its diagonal down. What is above the diagonal does not count.
constexpr double lower_update_flops(double m, double n, double k) { return (2 * m - n) * n * k; }

/// An estimate of the condition, n × n: three solves with four right-hand sides, at most.
constexpr double flops_of_condition(double n) { return 3 * 4 * 2 * n * n; }

}  // namespace lasolve
