#include "lapack/engine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "solvers/apply.hpp"
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/execute.hpp"
#include "solvers/lu/cpu/panel.hpp"

namespace lasolve::lapack {

namespace {

Pivots<Cpu> pivots_of(std::int64_t* pivots, std::int64_t n, std::int64_t* zero) {
  const MatrixView<std::int64_t> p(pivots, n, 1, n);
  return {p, {zero, 1, 1, 1}, Interchanges<Cpu>(p)};
}

/// The triangle as it is stored.
template <class T>
Triangle<T, Cpu> stored(const Half<T>& A) {
  return A.lower ? lower(A.A) : upper(A.A);
}

template <class T>
void copy_half(bool is_lower, MatrixView<const T> from, MatrixView<T> to) {
  const std::int64_t n = from.rows();
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = is_lower ? j : 0; i < (is_lower ? n : j + 1); ++i) to(i, j) = from(i, j);
}

/// Columns of what is not halved any more, which is computed apart: the other triangle of the caller's is not touched.
template <class T>
std::int64_t leaf_of(const Work<T>& w) {
  return w.block_size > 0 ? std::min(w.block_size, w.q.tuning().cholesky_leaf) : w.q.tuning().cholesky_leaf;
}

/// C ← C + α W Wᵀ. W: n × k.
template <class T>
void add_square(Work<T>& w, T alpha, Operand<T> W, Half<T> C) {
  constexpr std::int64_t leaf = 96;
  const std::int64_t n = C.n(), k = W.cols();
  if (n <= leaf) {
    Matrix<T> square(n, n);
    w.gemm(w.q, alpha, W, transposed(W), T(0), square);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = C.lower ? j : 0; i < (C.lower ? n : j + 1); ++i) C.A(i, j) += square(i, j);
    return;
  }
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const Operand<T> W1 = W.block(0, 0, n1, k), W2 = W.block(n1, 0, n2, k);
  w.gemm(w.q, alpha, C.lower ? W2 : W1, transposed(C.lower ? W1 : W2), T(1), C.beside(n1));
  add_square(w, alpha, W1, C.block(0, n1));
  add_square(w, alpha, W2, C.block(n1, n2));
}

template <class T>
std::int64_t factor_copy_of_leaf(Half<T> A) {
  const std::int64_t n = A.n();
  Matrix<T> L(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) L(i, j) = A.lower ? A.A(i, j) : A.A(j, i);
  const std::int64_t bad = substitution<T>().cholesky(n, L.data(), L.ld());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) (A.lower ? A.A(i, j) : A.A(j, i)) = L(i, j);
  return bad;
}

/// With zeros in its other triangle.
template <class T>
Matrix<T> whole(Triangle<T, Cpu> tri) {
  const std::int64_t n = tri.order();
  Matrix<T> all(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      all(i, j) = i == j && tri.unit ? T(1) : (tri.lower ? i >= j : i <= j) ? tri.values(i, j) : T(0);
  return all;
}

/// B ← T B, or B ← B T.
template <class T>
void multiply_triangle(Work<T>& w, Triangle<T, Cpu> tri, bool from_left, MatrixView<T> B) {
  constexpr std::int64_t leaf = 64;
  const std::int64_t n = tri.order(), others = from_left ? B.cols() : B.rows();
  if (n <= leaf) {
    const Matrix<T> all = whole(tri);
    Matrix<T> before(B.rows(), B.cols());
    convert<T>(w.q, B, before.view());
    const Operand<T> its = all.view(), of = before.view();
    return w.gemm(w.q, T(1), from_left ? its : of, from_left ? of : its, T(0), B);
  }
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const auto part = [&](std::int64_t i, std::int64_t rows) {
    return from_left ? B.block(i, 0, rows, others) : B.block(0, i, others, rows);
  };
  const auto B1 = part(0, n1), B2 = part(n1, n2);
  const auto T1 = tri.diagonal_block(0, n1), T2 = tri.diagonal_block(n1, n2);
  const Operand<T> off = tri.lower ? tri.values.block(n1, 0, n2, n1) : tri.values.block(0, n1, n1, n2);
  // The part that takes from the other one goes first: [T11 T12; 0 T22] [B1; B2], and so on.
  const bool first_takes = from_left != tri.lower;
  const auto [taking, given] = first_takes ? std::pair(B1, B2) : std::pair(B2, B1);
  multiply_triangle(w, first_takes ? T1 : T2, from_left, taking);
  if (from_left)
    w.gemm(w.q, T(1), off, given, T(1), taking);
  else
    w.gemm(w.q, T(1), given, off, T(1), taking);
  multiply_triangle(w, first_takes ? T2 : T1, from_left, given);
}

}  // namespace

template <class T>
Work<T>::Work(const char* routine, std::int64_t m, std::int64_t n)
    : q(settings().threads), gemm(products()), block_size(block_size_of(routine, sizeof(T) == sizeof(double), m, n)) {
  if (block_size <= 0) return;
  Tuning tuning = q.tuning();  // so that also leaves are as small, and products are made
  tuning.solve_order = std::min(tuning.solve_order, block_size);
  tuning.solve_few_rhs = 0;
  tuning.lu_leaf = std::min(tuning.lu_leaf, block_size);
  tuning.lu_leaf_elements = 0;
  q.tune(tuning);
}

template <class T>
std::int64_t factor_lu(Work<T>& w, MatrixView<T> A, std::int64_t* pivots) {
  const std::int64_t n = std::min(A.rows(), A.cols());
  if (n == 0) return -1;
  const Widths widths = Lu::record.widths(
      w.q.tuning(), {.schedule = Schedule::right_looking, .storage = precision_of<T>, .n = n, .columns = w.block_size});
  const auto plan = ordered_plan(Lu::record.method, Schedule::right_looking,
                                 Blocking{.n = A.cols(), .widths = widths, .m = A.rows()}, Capabilities{});
  Buffers<T, Cpu> buffers(plan->plan);
  std::int64_t zero = -1;
  execute(*plan, w.q, Workpiece<T, Cpu>{w.gemm, A, pivots_of(pivots, n, &zero), {}, buffers});
  return zero;
}

/// By halving: nearly all of it is triangular solves and products with a large k.
/// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
template <class T>
std::int64_t factor_cholesky(Work<T>& w, Half<T> A) {
  const std::int64_t n = A.n(), leaf = leaf_of(w);
  if (n <= leaf) return factor_copy_of_leaf(A);
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const Half<T> A11 = A.block(0, n1), A22 = A.block(n1, n2);
  const MatrixView<T> A21 = A.beside(n1);
  if (const std::int64_t bad = factor_cholesky(w, A11)) return bad;  // A11 = L11 L11ᵀ
  if (A.lower)                                                       // L21 = A21 inv(L11)ᵀ
    trsm_right(w.q, w.gemm, A11.factor().transposed(), A21);
  else
    trsm_left(w.q, w.gemm, A11.factor(), A21);
  add_square(w, T(-1), A.lower ? Operand<T>(A21) : transposed(A21), A22);  // A22 ← A22 − L21 L21ᵀ
  const std::int64_t bad = factor_cholesky(w, A22);
  return bad ? n1 + bad : 0;
}

template <class T>
void solve_lu(Work<T>& w, MatrixView<T> A, std::int64_t* pivots, MatrixView<T> X, Op op) {
  if (X.empty()) return;
  std::int64_t zero = -1;
  apply_factors<T>(w.q, w.gemm, Lu::record, A, pivots_of(pivots, A.rows(), &zero), MatrixView<const T>(X), X, op);
}

template <class T>
void solve_cholesky(Work<T>& w, Half<T> A, MatrixView<T> X) {
  if (X.empty()) return;
  trsm_left(w.q, w.gemm, A.factor(), X);
  trsm_left(w.q, w.gemm, A.factor().transposed(), X);
}

template <class T>
void invert_triangle(Work<T>& w, Half<T> A) {
  const std::int64_t n = A.n(), leaf = leaf_of(w);
  if (n <= leaf) {
    Matrix<T> inverse(n, n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) inverse(i, j) = i == j;
    solve_leaf(w.q, stored(A), inverse.view());
    return copy_half<T>(A.lower, inverse.view(), A.A);
  }
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const Half<T> T1 = A.block(0, n1), T2 = A.block(n1, n2);
  const MatrixView<T> off = A.beside(n1);
  trsm_left(w.q, w.gemm, stored(A.lower ? T2 : T1), off);
  trsm_right(w.q, w.gemm, stored(A.lower ? T1 : T2), off);
  on_shares(w.q, off.cols(), double(off.rows()) * double(off.cols()), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first; j < first + count; ++j)
      for (std::int64_t i = 0; i < off.rows(); ++i) off(i, j) = -off(i, j);
  });
  invert_triangle(w, T1);
  invert_triangle(w, T2);
}

template <class T>
void square_of_inverse(Work<T>& w, Half<T> A) {
  const std::int64_t n = A.n(), leaf = leaf_of(w);
  if (n <= leaf) {
    const Matrix<T> L = whole(A.factor());  // the inverse of a factor, or its transpose
    const Operand<T> its = L.view();
    Matrix<T> square(n, n);
    w.gemm(w.q, T(1), transposed(its), its, T(0), square);  // LᵀL, or UUᵀ
    return copy_half<T>(A.lower, square.view(), A.A);
  }
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const MatrixView<T> off = A.beside(n1);  // L21, or U12 = L21ᵀ
  square_of_inverse(w, A.block(0, n1));
  add_square(w, T(1), A.lower ? transposed(off) : Operand<T>(off), A.block(0, n1));  // A11 ← L11ᵀL11 + L21ᵀL21
  const Half<T> A22 = A.block(n1, n2);
  multiply_triangle(w, A.lower ? A22.factor().transposed() : A22.factor(), A.lower, off);  // A21 ← L22ᵀ L21
  square_of_inverse(w, A22);
}

/// X L = U⁻¹ by block columns from the right, as in LAPACK's getri; then A⁻¹ = X P.
template <class T>
void inverse_from_factors(Work<T>& w, MatrixView<T> A, const std::int64_t* pivots) {
  const std::int64_t n = A.rows(), width = std::min(n, w.block_size > 0 ? w.block_size : std::int64_t(128));
  if (n == 0) return;
  Matrix<T> L(n, width);
  for (std::int64_t j = (n - 1) / width * width; j >= 0; j -= width) {
    const std::int64_t some = std::min(width, n - j), behind = n - j - some;
    const MatrixView<T> its = L.view().block(j, 0, n - j, some), X = A.columns(j, some);
    for (std::int64_t c = 0; c < some; ++c)
      for (std::int64_t i = c + 1; i < n - j; ++i) its(i, c) = std::exchange(A(j + i, j + c), T(0));
    if (behind > 0) w.gemm(w.q, T(-1), A.columns(j + some, behind), its.block(some, 0, behind, some), T(1), X);
    trsm_right(w.q, w.gemm, lower_unit(its.block(0, 0, some, some)), X);
  }
  for (std::int64_t j = n - 1; j >= 0; --j)
    if (pivots[j] != j)
      std::swap_ranges(A.data() + j * A.ld(), A.data() + j * A.ld() + n, A.data() + pivots[j] * A.ld());
}

/// One vector at a time, as LAPACK's lacn2: four of them, as solvers/refine/estimated_norms.hpp takes, cost more than the rest of the routine.
/// Source: Higham, "FORTRAN codes for estimating the one-norm of a real or complex matrix", TOMS 14, 1988.
template <class T>
double one_norm_by_vectors(MatrixView<T> x, T unit, const std::function<void(MatrixView<T>, Op)>& apply, T* image) {
  constexpr int most_rounds = 5;
  const std::int64_t n = x.rows();
  T* const v = x.data();
  const auto sum = [&] {
    return std::accumulate(v, v + n, 0.0, [](double s, T its) { return s + std::abs(double(its)); });
  };
  const auto largest = [&] {
    return std::max_element(v, v + n, [](T p, T q) { return std::abs(p) < std::abs(q); }) - v;
  };
  std::fill_n(v, n, unit / T(n));
  apply(x, Op::none);
  double best = sum();
  const auto keep = [&] {
    if (image) std::copy_n(v, n, image);
  };
  keep();
  std::vector<T> signs(std::size_t(n), T(0));
  std::int64_t at = -1;
  for (int round = 1; n > 1 && std::isfinite(best) && round < most_rounds; ++round) {
    bool as_before = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const T sign = v[i] >= T(0) ? T(1) : T(-1);
      as_before &= std::exchange(signs[std::size_t(i)], sign) == sign;
      v[i] = sign * unit;
    }
    if (as_before) break;
    apply(x, Op::transpose);
    const std::int64_t next = largest();
    if (at >= 0 && std::abs(v[at]) == std::abs(v[next])) break;
    at = next;
    std::fill_n(v, n, T(0));
    v[at] = unit;
    apply(x, Op::none);
    const double found = sum();
    if (!(found > best) && std::isfinite(found)) break;
    best = found;
    keep();
  }
  if (n == 1 || !std::isfinite(best)) return best;
  for (std::int64_t i = 0; i < n; ++i) v[i] = (i % 2 == 0 ? unit : -unit) * (T(1) + T(i) / T(n - 1));
  apply(x, Op::none);
  const double other = 2 * sum() / (3 * double(n));
  if (other > best) keep();
  return std::max(best, other);
}

template <class T>
NormOfInverse norm_of_inverse(std::int64_t n, const std::function<void(MatrixView<T>, Op)>& apply, T* image) {
  constexpr int down = sizeof(T) == sizeof(double) ? -600 : -80;
  Matrix<T> x(n, 1);
  const double found = one_norm_by_vectors<T>(x, T(1), apply, image);
  if (std::isfinite(found)) return {found, 0};
  return {one_norm_by_vectors<T>(x, std::ldexp(T(1), down), apply, image), down};
}

template <class T>
void residual_of(Work<T>& w, Operand<T> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) {
  residual(w.q, A, X, B, R);
}
template <class T>
void residual_of(Work<T>& w, Half<T> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) {
  residual(w.q, Symmetric<T>(A.A, A.lower ? Uplo::lower : Uplo::upper), X, B, R);
}

template <class T>
std::vector<double> magnitudes_of(Work<T>& w, Operand<T> A, MatrixView<const T> x) {
  std::vector<double> weights(std::size_t(x.rows()));
  for (std::int64_t i = 0; i < x.rows(); ++i) weights[std::size_t(i)] = std::abs(double(x(i, 0)));
  return *row_sums_of_magnitudes(w.q, A, weights);
}
template <class T>
std::vector<double> magnitudes_of(Work<T>&, Half<T> A, MatrixView<const T> x) {
  const std::int64_t n = A.n();
  std::vector<double> sums(std::size_t(n), 0.0);
  for (std::int64_t j = 0; j < n; ++j) {
    const double its = std::abs(double(x(j, 0)));
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = A.lower ? j + 1 : 0; i < (A.lower ? n : j); ++i) {
      const double a = std::abs(double(A.A(i, j)));
      sums[std::size_t(i)] += a * its;
      sum += a * std::abs(double(x(i, 0)));
    }
    sums[std::size_t(j)] += sum + std::abs(double(A.A(j, j))) * its;
  }
  return sums;
}

#define LASOLVE_INSTANTIATE(T)                                                                              \
  template struct Work<T>;                                                                                  \
  template std::int64_t factor_lu(Work<T>&, MatrixView<T>, std::int64_t*);                                  \
  template std::int64_t factor_cholesky(Work<T>&, Half<T>);                                                 \
  template void solve_lu(Work<T>&, MatrixView<T>, std::int64_t*, MatrixView<T>, Op);                        \
  template void solve_cholesky(Work<T>&, Half<T>, MatrixView<T>);                                           \
  template NormOfInverse norm_of_inverse(std::int64_t, const std::function<void(MatrixView<T>, Op)>&, T*);  \
  template void residual_of(Work<T>&, Operand<T>, MatrixView<const T>, MatrixView<const T>, MatrixView<T>); \
  template void residual_of(Work<T>&, Half<T>, MatrixView<const T>, MatrixView<const T>, MatrixView<T>);    \
  template std::vector<double> magnitudes_of(Work<T>&, Operand<T>, MatrixView<const T>);                    \
  template std::vector<double> magnitudes_of(Work<T>&, Half<T>, MatrixView<const T>);                       \
  template void invert_triangle(Work<T>&, Half<T>);                                                         \
  template void square_of_inverse(Work<T>&, Half<T>);                                                       \
  template void inverse_from_factors(Work<T>&, MatrixView<T>, const std::int64_t*);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
