// What routines are made of: factors in the memory of the caller, and triangles, over the solver's tasks and primitives on the CPU. The
// solver itself has no seat for that: it factors copies of square matrices, and a Cholesky of it writes to the other triangle.
#pragma once

#include <functional>
#include <vector>

#include "lapack/settings.hpp"
#include "lasolve/gemm.hpp"
#include "solvers/trsm.hpp"

namespace lasolve::lapack {

/// A call: its queue, and the products of the chosen backend, which are counted.
template <class T>
struct Work {
  /// `routine` is what the program's ILAENV is asked for the block size of, such as "GETRF".
  explicit Work(const char* routine, std::int64_t m, std::int64_t n);

  Queue<Cpu> q;
  Gemm<T, Cpu> gemm;
  std::int64_t block_size;  ///< 0: what was measured to be best
};

/// One triangle of a symmetric matrix, n × n, or of its factor. The other one is never touched.
template <class T>
struct Half {
  MatrixView<T> A;
  bool lower;

  std::int64_t n() const { return A.rows(); }
  Half block(std::int64_t i, std::int64_t n) const { return {A.block(i, i, n, n), lower}; }
  /// What is there of the rectangle below the first n1 columns: n2 × n1 in the lower triangle, n1 × n2 in the upper one.
  MatrixView<T> beside(std::int64_t n1) const {
    const std::int64_t n2 = n() - n1;
    return lower ? A.block(n1, 0, n2, n1) : A.block(0, n1, n1, n2);
  }
  /// L of A = L Lᵀ, which is Uᵀ of an upper triangle.
  Triangle<T, Cpu> factor() const { return lower ? lasolve::lower(A) : upper(A).transposed(); }
};

/// P A = L U, m × n, in the place of A; pivots from 0. The first column whose pivot is zero, or −1. The elimination goes on there.
template <class T>
std::int64_t factor_lu(Work<T>&, MatrixView<T> A, std::int64_t* pivots);
/// A = L Lᵀ. The order of the first leading minor that is not positive, or 0.
template <class T>
std::int64_t factor_cholesky(Work<T>&, Half<T> A);

/// X ← op(A)⁻¹ X, with factors.
template <class T>
void solve_lu(Work<T>&, MatrixView<T> A, std::int64_t* pivots, MatrixView<T> X, Op);
template <class T>
void solve_cholesky(Work<T>&, Half<T> A, MatrixView<T> X);

/// An estimate of ‖M‖₁ times 2^exponent, for an M that solutions of systems are: X ← M X, or Mᵀ X, of n × 1. `image` becomes the M x that was largest. The exponent is such
/// that X does not overflow.
struct NormOfInverse {
  double estimate;
  int exponent;
};
template <class T>
NormOfInverse norm_of_inverse(std::int64_t n, const std::function<void(MatrixView<T> X, Op)>& apply,
                              T* image = nullptr);

/// R ← B − op(A) X; and |op(A)| |x|, of one column.
template <class T>
void residual_of(Work<T>&, Operand<T> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R);
template <class T>
void residual_of(Work<T>&, Half<T> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R);
template <class T>
std::vector<double> magnitudes_of(Work<T>&, Operand<T> A, MatrixView<const T> x);
template <class T>
std::vector<double> magnitudes_of(Work<T>&, Half<T> A, MatrixView<const T> x);

/// The inverse of a triangle, in its place; L⁻ᵀ L⁻¹ from L⁻¹, the same.
template <class T>
void invert_triangle(Work<T>&, Half<T> A);
template <class T>
void square_of_inverse(Work<T>&, Half<T> A);
/// A⁻¹ from U⁻¹ in the upper triangle of A and L below it.
template <class T>
void inverse_from_factors(Work<T>&, MatrixView<T> A, const std::int64_t* pivots);

}  // namespace lasolve::lapack
