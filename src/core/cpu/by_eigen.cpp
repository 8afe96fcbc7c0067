#include "core/cpu/by_eigen.hpp"

#include "core/cpu/eigen.hpp"
#include "lasolve/elements.hpp"

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

template <class T>
void add_symmetric_product_by_eigen(T alpha, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<T> C) {
  const auto a = as_eigen(A.stored()), x = as_eigen(X);
  if (A.op() == Op::none)
    as_eigen(C).noalias() += alpha * a.template selfadjointView<Eigen::Lower>() * x;
  else
    as_eigen(C).noalias() += alpha * a.template selfadjointView<Eigen::Upper>() * x;
}

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

#define LASOLVE_INSTANTIATE(T)                                                                          \
  template void add_product_by_eigen(T, Operand<T, Cpu>, Operand<T, Cpu>, MatrixView<T>);               \
  template void add_symmetric_product_by_eigen(T, Operand<T, Cpu>, MatrixView<const T>, MatrixView<T>); \
  template void solve_by_eigen(Operand<T, Cpu>, bool, bool, MatrixView<T>);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve
