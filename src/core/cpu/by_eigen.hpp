// What Eigen computes, on the calling thread: instantiated once, and with all optimizations.
#pragma once

#include "lasolve/gemm.hpp"

namespace lasolve {

/// C ← C + α op(A) op(B).
template <class T>
void add_product_by_eigen(T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, MatrixView<T> C);
/// The same where A is symmetric, and of op(A) the lower triangle is read.
template <class T>
void add_symmetric_product_by_eigen(T alpha, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<T> C);

/// B ← inv(T) B, T triangular. `lower` says what is read of T, `unit` that its diagonal is one.
template <class T>
void solve_by_eigen(Operand<T, Cpu> triangle, bool lower, bool unit, MatrixView<T> B);

}  // namespace lasolve
