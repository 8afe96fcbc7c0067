// Products that kernels are tested with: their operands, their computation in frames that must stay as they were, and the bound
// that they must keep.
#pragma once

#include <bit>
#include <ostream>

#include "matrices.hpp"
#include "places.hpp"

namespace lasolve::test {

inline constexpr Op ops[] = {Op::none, Op::transpose};

struct Product {
  std::int64_t m, n, k;
  Op op_a = Op::none, op_b = Op::none;
  double alpha = -1, beta = 1;
  std::int64_t margin = 3;  ///< rows and columns of NaN around each matrix

  friend std::ostream& operator<<(std::ostream& out, const Product& p) {
    return out << p.m << " × " << p.n << " × " << p.k << ' ' << "NT"[int(p.op_a)] << "NT"[int(p.op_b)]
               << " α = " << p.alpha << " β = " << p.beta << " margin " << p.margin;
  }
};

template <class T>
const T nan = T(std::numeric_limits<float>::quiet_NaN());

template <class T>
void fill_nan(MatrixView<T> X) {
  for (std::int64_t j = 0; j < X.cols(); ++j) std::fill_n(X.data() + j * X.ld(), X.rows(), nan<T>);
}

template <class T, class In>
struct Inputs {
  Product p;
  Matrix<In> A, B;
  Matrix<T> C;
  Operand<In> a() const { return {A.view(), p.op_a}; }
  Operand<In> b() const { return {B.view(), p.op_b}; }
};

/// A, B and C as stored, of entry(); C is NaN where β = 0 forbids to read it.
template <class T, class In, class Entry>
Inputs<T, In> inputs(const Product& p, Entry entry) {
  const auto filled = [&]<class X>(X, std::int64_t m, std::int64_t n, Op op) {
    if (op == Op::transpose) std::swap(m, n);
    return matrix_of<X>(m, n, [&](auto, auto) { return entry(); });
  };
  auto A = filled(In(), p.m, p.k, p.op_a), B = filled(In(), p.k, p.n, p.op_b);
  auto C = filled(T(), p.m, p.n, Op::none);
  if (p.beta == 0) fill_nan(C.view());
  return {p, std::move(A), std::move(B), std::move(C)};
}

template <class T, class In>
Inputs<T, In> random_inputs(const Product& p) {
  return inputs<T, In>(p, Random());
}

/// A matrix inside a frame of NaN. Where the margin is even, columns are aligned to two elements also beside an odd number of
/// rows, so that who writes two at a time is seen to write below C; at a margin of 8 to eight elements, as 16 bytes of halves.
template <class T>
Matrix<T> framed(const Matrix<T>& A, std::int64_t margin) {
  const std::int64_t rows = A.rows() + 2 * margin;
  const std::int64_t aligned = margin == 8 ? 8 : margin % 2 == 0 ? 2 : 1;
  Matrix<T> frame(rows, A.cols() + 2 * margin, (rows + aligned - 1) / aligned * aligned);
  fill_nan(frame.view());
  for (std::int64_t j = 0; j < A.cols(); ++j)
    std::copy_n(A.data() + j * A.ld(), A.rows(), frame.data() + margin + (margin + j) * frame.ld());
  return frame;
}

template <class T, class Place>
MatrixView<T, Place> inside(Matrix<T, Place>& frame, std::int64_t margin) {
  return frame.view().block(margin, margin, frame.rows() - 2 * margin, frame.cols() - 2 * margin);
}

/// C of the product, computed at the place inside frames that must stay as they were.
template <Precision P, class Place, class T, class In>
Matrix<T> computed(Queue<Place>& q, const GemmKernel<P, Place>& kernel, const Inputs<T, In>& in) {
  const auto margin = in.p.margin;
  auto A = upload(q, framed(in.A, margin)), B = upload(q, framed(in.B, margin));
  auto C = upload(q, framed(in.C, margin));
  kernel(q, T(in.p.alpha), {inside(A, margin), in.p.op_a}, {inside(B, margin), in.p.op_b}, T(in.p.beta),
         inside(C, margin));
  q.finish();
  Matrix<T> after = download(q, C);
  Matrix<T> result = rounded<T>(inside(after, margin));
  fill_nan(inside(after, margin));
  EXPECT_TRUE(as_eigen(after.view()).array().isNaN().all()) << "wrote outside C";
  return result;
}

/// ‖C − Cref‖ ≤ u·(√(k+2)·max(|α|,1)·‖A‖‖B‖ + 2·max(|β|,1)·‖C₀‖), Frobenius norms.
template <class T, class In>
void expect_close(const Matrix<T>& C, const Inputs<T, In>& in, double u) {
  auto error = product<T, In>(T(in.p.alpha), in.a(), in.b(), T(in.p.beta), in.C.view());
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) error(i, j) -= C(i, j);
  const double ab =
      std::sqrt(double(in.p.k + 2)) * std::max(std::abs(in.p.alpha), 1.0) * frobenius(in.A) * frobenius(in.B);
  const double c = in.p.beta == 0 ? 0 : 2 * std::max(std::abs(in.p.beta), 1.0) * frobenius(in.C);
  EXPECT_LE(frobenius(error), u * (ab + c));
}

/// The NaN with the smallest fraction, which would be an infinity if its last bits were cut off.
template <class T>
T least_nan() {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  return std::bit_cast<T>(Bits(std::bit_cast<Bits>(T(std::numeric_limits<float>::infinity())) + 1));
}

}  // namespace lasolve::test
