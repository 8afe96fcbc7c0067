// A GEMM kernel of one's own, and what the solver does with it: write a function, put it in a record, pass the record.
// No table is touched, and the library is not rebuilt. To have it in the tool, see docs/bring-your-own-kernel.md.
#include <cmath>
#include <cstdio>
#include <random>

#include "lasolve/lasolve.hpp"

using namespace lasolve;

static double flops = 0;

/// C ← α·A·B + β·C as a sum of outer products. What a kernel has to keep to is in lasolve/gemm.hpp: β = 0 overwrites
/// C without reading it, a size may be 0, and A(i, l) reads a transposed operand as well.
static void outer_products(const void*, Queue<Cpu>&, double alpha, Operand<double> A, Operand<double> B, double beta,
                           MatrixView<double> C) {
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) = beta == 0 ? 0 : beta * C(i, j);
  for (std::int64_t l = 0; l < A.cols(); ++l)
    for (std::int64_t j = 0; j < C.cols(); ++j)
      for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) += alpha * A(i, l) * B(l, j);
  flops += 2.0 * double(C.rows()) * double(C.cols()) * double(A.cols());
}

static const GemmBackend<Cpu> mine{.name = "outer", .summary = "a sum of outer products", .kernels = outer_products};

int main() {
  const std::int64_t n = 600;
  Matrix<double> A(n, n), b(n, 1), x(n, 1), y(n, 1);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> entry(-1, 1);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = entry(random);
  for (std::int64_t i = 0; i < n; ++i) b(i, 0) = entry(random);

  Options options;
  options.gemm = &mine;
  options.factorization = Method::lu;
  const Report report = solve(A, b, x, options);
  const Report other = solve(A, b, y);
  if (!report.outcome.ok() || !other.outcome.ok()) return 1;

  double difference = 0, largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    difference = std::max(difference, std::abs(x(i, 0) - y(i, 0)));
    largest = std::max(largest, std::abs(y(i, 0)));
  }
  std::printf("%s did %.0f %% of the 2/3 n³ operations; its backward error is %.1e, that of %s %.1e\n",
              report.gemm.c_str(), 100 * flops / (2.0 / 3.0 * double(n * n * n)), *report.backward_error,
              other.gemm.c_str(), *other.backward_error);
  std::printf("the two solutions differ by %.1e of the largest entry\n", difference / largest);
  return flops > 0 && report.gemm == "outer" && difference < 1e-9 * largest ? 0 : 1;
}
