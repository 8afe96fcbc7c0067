// A program that uses Eigen beside the library, each compiled in its own way: README's example, and products of its own.
#include <lasolve/lasolve.hpp>

#include <Eigen/Dense>
#include <cstdio>

/// The largest element of A·Aᵀ that is not the sum it should be.
static double error_of_product(const Eigen::MatrixXd& A) {
  const Eigen::MatrixXd P = A * A.transpose();
  double largest = 0;
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    for (Eigen::Index j = 0; j < A.rows(); ++j) {
      double sum = 0;
      for (Eigen::Index k = 0; k < A.cols(); ++k) sum += A(i, k) * A(j, k);
      largest = std::max(largest, std::abs(P(i, j) - sum));
    }
  return largest;
}

int main() {
  const Eigen::Index n = 150;
  const Eigen::MatrixXd A = Eigen::MatrixXd::Random(n, n) + 5 * Eigen::MatrixXd::Identity(n, n);
  const Eigen::MatrixXd B = Eigen::MatrixXd::Random(n, 3), B2 = Eigen::MatrixXd::Random(n, 2);
  Eigen::MatrixXd X(n, 3), X2(n, 2);
  lasolve::Report report = lasolve::solve(A, B, X);
  lasolve::Factorization<double> factors(A, {.gemm = "eigen", .device = {lasolve::Device::cpu}});
  const lasolve::Report second = factors.solve(B2, X2, lasolve::Op::transpose);

  // Types whose alignment depends on the vector units that a program is compiled for.
  Eigen::Matrix<double, 8, 8> small = A.topLeftCorner<8, 8>();
  const Eigen::Matrix<double, 8, 1> b = B.topLeftCorner<8, 1>();
  Eigen::Matrix<double, 8, 1> x;
  const lasolve::Report third = lasolve::solve(small, b, x);

  const double errors[] = {error_of_product(A), (A * X - B).norm(), (A.transpose() * X2 - B2).norm(),
                           (A.partialPivLu().solve(B) - X).norm(), (small * x - b).norm()};
  bool right = report.outcome.ok() && second.outcome.ok() && third.outcome.ok();
  for (const double error : errors) right = right && error < 1e-10;
  if (!right)
    for (const double error : errors) std::printf("%g\n", error);
  return right ? 0 : 1;
}
