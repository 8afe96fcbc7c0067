#include "core/cpu/by_eigen.hpp"

#include "core/cpu/eigen.hpp"

namespace lasolve {

template <class T>
void add_product_by_eigen(T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, MatrixView<T> C) {
  auto c = as_eigen(C);
  const auto a = as_eigen(A.stored()), b = as_eigen(B.stored());
  if (A.op() == Op::none && B.op() == Op::none) c.noalias() += alpha * a * b;
  if (A.op() == Op::none && B.op() != Op::none) c.noalias() += alpha * a * b.transpose();
  if (A.op() != Op::none && B.op() == Op::none) c.noalias() += alpha * a.transpose() * b;
  if (A.op() != Op::none && B.op() != Op::none) c.noalias() += alpha * a.transpose() * b.transpose();
}
template void add_product_by_eigen(double, Operand<double, Cpu>, Operand<double, Cpu>, MatrixView<double>);
template void add_product_by_eigen(float, Operand<float, Cpu>, Operand<float, Cpu>, MatrixView<float>);

template <class T>
void add_symmetric_product_by_eigen(T alpha, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<T> C) {
  const auto a = as_eigen(A.stored()), x = as_eigen(X);
  if (A.op() == Op::none)
    as_eigen(C).noalias() += alpha * a.template selfadjointView<Eigen::Lower>() * x;
  else
    as_eigen(C).noalias() += alpha * a.template selfadjointView<Eigen::Upper>() * x;
}
template void add_symmetric_product_by_eigen(double, Operand<double, Cpu>, MatrixView<const double>,
                                             MatrixView<double>);
template void add_symmetric_product_by_eigen(float, Operand<float, Cpu>, MatrixView<const float>, MatrixView<float>);

template <class T>
void solve_by_eigen(Operand<T, Cpu> triangle, bool lower, bool unit, MatrixView<T> B) {
  auto b = as_eigen(B);
  const auto solve = [&](const auto& values) {
    if (lower && unit) values.template triangularView<Eigen::UnitLower>().solveInPlace(b);
    if (lower && !unit) values.template triangularView<Eigen::Lower>().solveInPlace(b);
    if (!lower && unit) values.template triangularView<Eigen::UnitUpper>().solveInPlace(b);
    if (!lower && !unit) values.template triangularView<Eigen::Upper>().solveInPlace(b);
  };
  const auto stored = as_eigen(triangle.stored());
  triangle.op() == Op::transpose ? solve(stored.transpose()) : solve(stored);
}
template void solve_by_eigen(Operand<double, Cpu>, bool, bool, MatrixView<double>);
template void solve_by_eigen(Operand<float, Cpu>, bool, bool, MatrixView<float>);

}  // namespace lasolve
