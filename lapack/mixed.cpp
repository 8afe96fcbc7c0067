// Factors in float whose solutions are refined in double, as LAPACK's dsgesv and dsposv have it. Residuals never go through the backend.
#include <cmath>
#include <limits>
#include <vector>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

namespace {

enum Why : int { too_large_for_float = -2, not_factored = -3, not_converged = -31 };  // of ITER
constexpr int most_iterations = 30;

/// False where a number is too large.
template <class From>
bool round_to_float(MatrixView<From> from, MatrixView<float> to) {
  for (Size j = 0; j < from.cols(); ++j)
    for (Size i = 0; i < from.rows(); ++i) {
      if (std::abs(from(i, j)) > double(std::numeric_limits<float>::max())) return false;
      to(i, j) = float(from(i, j));
    }
  return true;
}
bool round_to_float(Half<double> from, Half<float> to) {
  for (Size j = 0; j < from.n(); ++j)
    for (Size i = from.lower ? j : 0; i < (from.lower ? from.n() : j + 1); ++i) {
      if (std::abs(from.A(i, j)) > double(std::numeric_limits<float>::max())) return false;
      to.A(i, j) = float(from.A(i, j));
    }
  return true;
}

template <class T>
double largest_in_column(MatrixView<T> X, Size j) {
  double most = 0;
  for (Size i = 0; i < X.rows(); ++i)
    if (const double its = std::abs(double(X(i, j))); !(its <= most)) most = its;
  return most;
}

/// ITER: how many updates X took with factors in float, or why they did not serve. solve(X) is with these, and residual() writes R.
template <class Solve, class Residual>
int refined(MatrixView<double> B, MatrixView<double> X, double norm, Solve solve, Residual residual) {
  const Size n = B.rows(), nrhs = B.cols();
  // LAPACK's bound is without the 0.5; its tests compute the residual in another order.
  const double enough = 0.5 * norm * (std::numeric_limits<double>::epsilon() / 2) * std::sqrt(double(n));
  Matrix<float> narrow(n, nrhs);
  Matrix<double> R(n, nrhs);
  const auto converged = [&] {
    for (Size j = 0; j < nrhs; ++j)
      if (!(largest_in_column(R.view(), j) <= largest_in_column(X, j) * enough)) return false;
    return true;
  };
  if (!round_to_float(B, narrow.view())) return too_large_for_float;
  solve(narrow.view());
  for (Size j = 0; j < nrhs; ++j)
    for (Size i = 0; i < n; ++i) X(i, j) = double(narrow(i, j));
  for (int iteration = 0;; ++iteration) {
    residual(R.view());
    if (converged()) return iteration;
    if (iteration == most_iterations) return not_converged;
    if (!round_to_float(R.view(), narrow.view())) return too_large_for_float;
    solve(narrow.view());
    for (Size j = 0; j < nrhs; ++j)
      for (Size i = 0; i < n; ++i) X(i, j) += double(narrow(i, j));
  }
}

double largest_sum(const std::vector<double>& sums) {
  double most = 0;
  for (const double sum : sums)
    if (!(sum <= most)) most = sum;
  return most;
}
/// ‖A‖∞.
template <class Given>
double norm_of(Work<double>& w, Given A, Size n) {
  Matrix<double> ones(n, 1);
  for (Size i = 0; i < n; ++i) ones(i, 0) = 1;
  return largest_sum(magnitudes_of<double>(w, A, ones));
}

void copy_rhs(MatrixView<double> B, MatrixView<double> X) {
  for (Size j = 0; j < B.cols(); ++j)
    for (Size i = 0; i < B.rows(); ++i) X(i, j) = B(i, j);
}

}  // namespace

template <>
Size sgesv(MatrixView<double> A, Integers ipiv, MatrixView<double> B, MatrixView<double> X, Integers iter) {
  const Size n = A.rows();
  iter.set(0, 0);
  if (n == 0) return 0;
  const int ended = [&]() -> int {
    Work<double> w("GETRF", n, n);
    Matrix<float> factors(n, n);
    if (!round_to_float(A, factors.view())) return too_large_for_float;
    if (getrf(factors.view(), ipiv) != 0) return not_factored;
    return refined(
        B, X, norm_of(w, Operand<double>(A), n), [&](MatrixView<float> Y) { getrs('N', factors.view(), ipiv, Y); },
        [&](MatrixView<double> R) { residual_of<double>(w, Operand<double>(A), X, B, R); });
  }();
  iter.set(0, ended);
  if (ended >= 0) return 0;
  if (const Size info = getrf(A, ipiv)) return info;
  copy_rhs(B, X);
  return getrs('N', A, ipiv, X);
}

template <>
Size sposv(Half<double> A, MatrixView<double> B, MatrixView<double> X, Integers iter) {
  const Size n = A.n();
  iter.set(0, 0);
  if (n == 0) return 0;
  const int ended = [&]() -> int {
    Work<double> w("POTRF", n, n);
    Matrix<float> memory(n, n);
    const Half<float> factors{memory, A.lower};
    if (!round_to_float(A, factors)) return too_large_for_float;
    if (potrf(factors) != 0) return not_factored;
    return refined(
        B, X, norm_of(w, A, n), [&](MatrixView<float> Y) { potrs(factors, Y); },
        [&](MatrixView<double> R) { residual_of<double>(w, A, X, B, R); });
  }();
  iter.set(0, ended);
  if (ended >= 0) return 0;
  if (const Size info = potrf(A)) return info;
  copy_rhs(B, X);
  return potrs(A, X);
}

}  // namespace lasolve::lapack
