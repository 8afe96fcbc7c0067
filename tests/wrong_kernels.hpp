// Kernels that are wrong, each in one way, such as a person who writes kernels makes.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "core/cpu/parallel.hpp"
#include "gemm/cpu/on_all_cores.hpp"
#include "lasolve/gemm.hpp"

namespace lasolve::test::wrong {

/// What all of them are but for their mistake: the first k steps of the product.
template <class T, class In = T>
void right(T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C, std::int64_t k) {
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      T sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += T(A(i, l)) * T(B(l, j));
      C(i, j) = beta == 0 ? alpha * sum : alpha * sum + beta * C(i, j);
    }
}
template <class T, class In = T>
void right(T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C) {
  right(alpha, A, B, beta, C, A.cols());
}

/// op(X) read as if it were X, where that is there.
template <class X>
Matrix<X> not_turned(Operand<X> x) {
  const auto stored = x.stored();
  Matrix<X> copy(x.rows(), x.cols());
  for (std::int64_t j = 0; j < x.cols(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i)
      copy(i, j) = stored(std::min(i, stored.rows() - 1), std::min(j, stored.cols() - 1));
  return copy;
}

using A_ = Operand<double>;
using C_ = MatrixView<double>;

inline void ignores_op_a(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  const auto a = not_turned(A);
  right(alpha, A_(a.view()), B, beta, C);
}
inline void ignores_op_b(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  const auto b = not_turned(B);
  right(alpha, A, A_(b.view()), beta, C);
}
template <class T, class In>
void loses_a_step(const void*, Queue<Cpu>&, T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C) {
  right(alpha, A, B, beta, C, A.cols() % 8 == 5 ? A.cols() - 1 : A.cols());
}
inline void ignores_alpha(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha < 0 ? -1.0 : 1.0, A, B, beta, C);
}
inline void ignores_beta(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta == 0 ? 0.0 : 1.0, C);
}
inline void reads_C_where_beta_is_zero(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) *= beta;
  right(alpha, A, B, 1.0, C);
}
inline void writes_below(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  if (C.rows() % 32 == 1 && C.ld() > C.rows() && C.cols() > 2) C.data()[C.rows() + 2 * C.ld()] = 7;
}
inline void writes_before(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  C.data()[-1] = 7;
}
/// Where a column lies before the first row of the next one, a NaN in place of a NaN.
inline void writes_behind(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  C.data()[C.cols() * C.ld()] = std::nan("");
}
inline void ignores_ld(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C_(C.data(), C.rows(), C.cols(), C.rows()));
}
/// An index of 31 bits.
inline void has_short_indices(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  const auto at = [](const A_& x, std::int64_t i, std::int64_t l) {
    return x.data()[(i * x.row_stride() + l * x.col_stride()) & 0x7fffffff];
  };
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < A.cols(); ++l) sum += at(A, i, l) * at(B, l, j);
      C(i, j) = beta == 0 ? alpha * sum : alpha * sum + beta * C(i, j);
    }
}
inline void swallows_nan(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i)
      if (std::isnan(C(i, j))) C(i, j) = 0;
}
inline void is_off_by_one(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  if (C.rows() == 129) C(77, C.cols() - 1) += 1;
}
/// Right at first, and wrong for the same operands again.
inline void remembers(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  static std::tuple<double, A_, A_, double, C_> last{0, A, B, 0, C};
  right(alpha, A, B, beta, C);
  const auto same = [](const auto& x, const auto& y) {
    return x.data() == y.data() && x.rows() == y.rows() && x.cols() == y.cols() && x.ld() == y.ld();
  };
  const auto& [last_alpha, last_A, last_B, last_beta, last_C] = last;
  if (alpha == last_alpha && beta == last_beta && same(A, last_A) && same(B, last_B) && same(C, last_C) &&
      A.op() == last_A.op() && B.op() == last_B.op())
    C(0, 0) += 1;
  last = {alpha, A, B, beta, C};
}
/// Takes the pointer's word for the columns'.
inline void trusts_a_pointer(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  if (reinterpret_cast<std::uintptr_t>(B.data()) % 16 == 0 && B.ld() % 2 == 1 && B.ld() > 80) C(3, 4) = 0;
}
inline void changes_an_input(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  if (B.rows() == 33) const_cast<double&>(B.stored()(0, 0)) = 5;
}
inline void throws(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  if (C.cols() == 33) throw std::runtime_error("no luck");
  right(alpha, A, B, beta, C);
}
/// In fp32, with operands of 11 significant bits.
inline void is_coarse(const void*, Queue<Cpu>&, float alpha, Operand<float> A, Operand<float> B, float beta,
                      MatrixView<float> C) {
  const auto rounded = [](Operand<float> x) {
    Matrix<float> copy(x.rows(), x.cols());
    for (std::int64_t j = 0; j < x.cols(); ++j)
      for (std::int64_t i = 0; i < x.rows(); ++i)
        copy(i, j) = std::isfinite(x(i, j))
                         ? std::bit_cast<float>((std::bit_cast<std::uint32_t>(x(i, j)) + 0x1000) & 0xffffe000)
                         : x(i, j);
    return copy;
  };
  const auto a = rounded(A), b = rounded(B);
  right(alpha, Operand<float>(a.view()), Operand<float>(b.view()), beta, C);
}
/// Beyond 512 steps.
inline void forgets_what_is_deep(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C, std::min<std::int64_t>(A.cols(), 512));
}
/// One element of many, and only where the conformance list does not go.
template <class T>
void is_wrong_where_large(const void*, Queue<Cpu>&, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  right(alpha, A, B, beta, C);
  if (C.rows() > 2000 && C.cols() > 100) C(1234, 56) += 1;
}

/// An error of 1e-11 of each element, where C is large in both directions.
inline void drifts_where_large(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  right(alpha, A, B, beta, C);
  if (C.rows() < 1000 || C.cols() < 1000) return;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) *= 1 + 1e-11;
}
/// Without the steps in which B is zero, as an older BLAS does it.
inline void skips_zeros(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  scale(beta, C);
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t l = 0; l < A.cols(); ++l)
      if (const double b = alpha * B(l, j); b != 0)
        for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) += A(i, l) * b;
}
/// In fixed point, with 60 bits below the largest element: of each row or of each column, or of all.
inline Matrix<double> in_fixed_point(A_ x, bool by_rows, bool is_one) {
  std::vector<double> most(std::size_t(is_one ? 1 : by_rows ? x.rows() : x.cols()), 0.0);
  const auto its = [&](std::int64_t i, std::int64_t j) -> double& {
    return most[std::size_t(is_one ? 0 : by_rows ? i : j)];
  };
  Matrix<double> copy(x.rows(), x.cols());
  for (std::int64_t j = 0; j < x.cols(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i)
      if (std::isfinite(x(i, j))) its(i, j) = std::max(its(i, j), std::abs(x(i, j)));
  for (std::int64_t j = 0; j < x.cols(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      const double unit = its(i, j) == 0 ? 1 : std::ldexp(1.0, std::ilogb(its(i, j)) - 60);
      copy(i, j) = std::isfinite(x(i, j)) ? std::nearbyint(x(i, j) / unit) * unit : x(i, j);
    }
  return copy;
}
/// One exponent for each row of op(A) and each column of op(B), or for all of one of them.
template <bool all_of_a, bool all_of_b>
void shares_exponents(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  const auto a = in_fixed_point(A, true, all_of_a), b = in_fixed_point(B, false, all_of_b);
  right(alpha, A_(a.view()), A_(b.view()), beta, C);
}
/// Static memory, and several cores that call: each takes its time, so that it meets another.
inline void shares_static_memory(const void*, Queue<Cpu>& q, double alpha, A_ A, A_ B, double beta, C_ C) {
  static std::atomic<int> callers = 0;
  on_cores(q.threads(), 1e9, [&](std::int64_t) {
    ++callers;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  right(alpha, A, B, beta, C);
  if (callers.exchange(0) > 1) C(0, 0) += 1;
}

inline void finds_no_memory(const void*, Queue<Cpu>&, double, A_, A_, double, C_) { throw std::bad_alloc(); }

inline bool turned(const A_& A, const A_& B) { return A.op() == Op::none && B.op() == Op::transpose; }

inline volatile std::uintptr_t nowhere = 64;
inline void crashes(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  if (C.rows() == 33 && turned(A, B)) *reinterpret_cast<volatile int*>(nowhere) = 1;
  right(alpha, A, B, beta, C);
}
inline void aborts(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  if (A.cols() == 128 && turned(A, B)) std::abort();
  right(alpha, A, B, beta, C);
}
inline void exits(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  if (A.cols() == 34) std::exit(0);
  right(alpha, A, B, beta, C);
}
inline void does_not_come_back(const void*, Queue<Cpu>&, double alpha, A_ A, A_ B, double beta, C_ C) {
  while (A.cols() == 33) std::this_thread::sleep_for(std::chrono::seconds(1));
  right(alpha, A, B, beta, C);
}
/// In fp32, which is another precision than that in which it crashes.
inline void is_right(const void*, Queue<Cpu>&, float alpha, Operand<float> A, Operand<float> B, float beta,
                     MatrixView<float> C) {
  right(alpha, A, B, beta, C);
}

}  // namespace lasolve::test::wrong
