// Triangular solves, judged by their residual, written once for the CPU and for CUDA.
#pragma once

#include "devices.hpp"
#include "solvers/trsm.hpp"
#include "systems.hpp"

namespace lasolve::test {

/// Which triangle of op(A), and the side of B that it is on.
struct TriangleForm {
  bool lower, unit, transposed, right;

  template <class T, class Space>
  Triangle<T, Space> of(MatrixView<const T, Space> A) const {
    return {Operand<T, Space>(A, transposed ? Op::transpose : Op::none), lower, unit};
  }
  friend std::ostream& operator<<(std::ostream& out, TriangleForm f) {
    return out << (f.lower ? "lower" : "upper") << (f.unit ? ", unit" : "") << (f.transposed ? ", transposed" : "")
               << (f.right ? ", from the right" : ", from the left");
  }
};
inline std::vector<TriangleForm> all_triangle_forms() {
  std::vector<TriangleForm> forms;
  for (int bits = 0; bits < 16; ++bits)
    forms.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
  return forms;
}

/// The matrix that stores a triangle whose element (i, k) counted from its first unknown on is element(i, k), i ≥ k.
/// What must not be read is NaN.
template <class T, class Element>
Matrix<T> stored_triangle(std::int64_t n, TriangleForm form, Element element) {
  Matrix<T> A(n, n, n + 3);
  std::fill_n(A.data(), A.ld() * n, std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = form.unit ? k + 1 : k; i < n; ++i) {
      const std::int64_t a = form.lower ? i : n - 1 - i, b = form.lower ? k : n - 1 - k;
      (form.transposed ? A(b, a) : A(a, b)) = T(element(i, k));
    }
  return A;
}

/// Random, off the diagonal small enough for the solution not to grow with the order.
template <class T>
Matrix<T> random_triangle(std::int64_t n, TriangleForm form) {
  Random random{std::uint64_t(n)};
  const double scale = 1 / std::sqrt(double(n));
  return stored_triangle<T>(n, form, [&](auto i, auto k) { return i == k ? 2 + random() : scale * random(); });
}

/// Random, with NaN between the columns.
template <class T>
Matrix<T> padded_rhs(std::int64_t n, std::int64_t count, TriangleForm form, std::uint64_t seed = 5) {
  const std::int64_t rows = form.right ? count : n, columns = form.right ? n : count;
  Random random(seed);
  Matrix<T> B(rows, columns, rows + 1);
  std::fill_n(B.data(), B.ld() * columns, std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) B(i, j) = T(random());
  return B;
}

/// The solution, with what is between its columns as it was left.
template <class T, class Space>
Matrix<T> solved_triangle(Queue<Space>& q, const Matrix<T>& A, TriangleForm form, const Matrix<T>& B) {
  const Matrix<T, Space> there = upload<T, Space>(q, A);
  Matrix<T, Space> X = upload<T, Space>(q, B);
  const auto tri = form.of<T, Space>(there.view());
  const Gemm<T, Space> gemm(some_backend<Space>());
  form.right ? trsm_right(q, gemm, tri, X.view()) : trsm_left(q, gemm, tri, X.view());
  return download<T, Space>(q, X);
}

/// The largest |b − T x| over u·|T||x|, element by element; NaN if any is.
template <class T>
double triangle_residual(const Matrix<T>& A, TriangleForm form, const Matrix<T>& B, const Matrix<T>& X) {
  const std::int64_t n = A.rows(), count = form.right ? B.rows() : B.cols();
  const auto side = [&](const Matrix<T>& M, std::int64_t i, std::int64_t c) { return form.right ? M(c, i) : M(i, c); };
  // Column i: what row i has where the triangle stands on the left of x. So a sum stays in a register, in its wide type.
  const Matrix<T> rows = matrix_of<T>(n, n, [&](std::int64_t j, std::int64_t i) {
    const bool turned = form.right != form.transposed;
    return i == j && form.unit ? T(1) : turned ? A(j, i) : A(i, j);
  });
  const bool below = form.lower == !form.right;
  Wide<T> worst = 0;
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::int64_t c = 0; c < count; ++c) {
    for (std::int64_t j = 0; j < n; ++j) x[std::size_t(j)] = side(X, j, c);
    for (std::int64_t i = 0; i < n; ++i) {
      const T* const row = &rows(0, i);
      Wide<T> r = side(B, i, c);
      double size = 0;
      for (std::size_t j = std::size_t(below ? 0 : i), end = std::size_t(below ? i + 1 : n); j < end; ++j) {
        r -= Wide<T>(row[j]) * x[j];
        size += std::abs(double(row[j]) * x[j]);
      }
      if (r != 0) worst = larger(worst, std::abs(r) / size);
    }
  }
  return double(worst / unit_roundoff<T>);
}

template <class T>
bool padding_is_untouched(const Matrix<T>& X) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = X.rows(); i < X.ld(); ++i)
      if (!std::isnan(X.data()[i + j * X.ld()])) return false;
  return true;
}

/// Orders around those of leaves and of their parts, and numbers of right-hand sides around those of kernels.
inline constexpr std::int64_t triangle_orders[] = {1,  2,  15,  16,  17,  31,  32,  33,  63,
                                                   64, 65, 127, 128, 129, 255, 256, 257, 512};
inline constexpr std::int64_t side_counts[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 65, 200};

template <class TypeAndSpace>
class TriangularSolve : public testing::Test {
 protected:
  using T = typename TypeAndSpace::first_type;
  using Space = typename TypeAndSpace::second_type;
  void SetUp() override {
    if (const std::string why = why_no(device_of<Space>); !why.empty()) GTEST_SKIP() << why;
    queue_.reset(new Queue<Space>(test_queue<Space>()));
  }
  Matrix<T> solved(const Matrix<T>& A, TriangleForm form, const Matrix<T>& B) {
    return solved_triangle(*queue_, A, form, B);
  }
  /// Solves, and expects |b − T x| ≤ bound·u·|T||x|.
  void expect_residual(const Matrix<T>& A, TriangleForm form, const Matrix<T>& B, double bound) {
    const Matrix<T> X = solved(A, form, B);
    EXPECT_LE(triangle_residual(A, form, B, X), bound);
    EXPECT_TRUE(padding_is_untouched(X));
  }

 private:
  std::unique_ptr<Queue<Space>> queue_;
};
TYPED_TEST_SUITE_P(TriangularSolve);

TYPED_TEST_P(TriangularSolve, has_a_small_residual_in_every_form) {
  using T = typename TypeParam::first_type;
  for (const TriangleForm form : all_triangle_forms())
    for (const std::int64_t n : triangle_orders)
      for (const std::int64_t count : side_counts) {
        if (n > 129 && count > 33) continue;  // the residual takes its time
        SCOPED_TRACE(testing::Message() << "order " << n << ", " << form << ", " << count << " right-hand sides");
        this->expect_residual(random_triangle<T>(n, form), form, padded_rhs<T>(n, count, form), double(n + 40));
        if (testing::Test::HasFailure()) return;
      }
}

TYPED_TEST_P(TriangularSolve, has_a_small_residual_at_larger_orders) {
  using T = typename TypeParam::first_type;
  for (const auto& [n, count] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1000, 200}, {2500, 12}, {4100, 1}, {130, 5000}, {64, 9000}})
    for (const TriangleForm form : {TriangleForm{true, true, false, false}, TriangleForm{false, false, false, false},
                                    TriangleForm{false, false, true, false}, TriangleForm{false, false, true, true}}) {
      SCOPED_TRACE(testing::Message() << "order " << n << ", " << form << ", " << count << " right-hand sides");
      this->expect_residual(random_triangle<T>(n, form), form, padded_rhs<T>(n, count, form), double(n + 40));
    }
}

/// Those whose diagonal blocks have inverses so large that solving with them would leave a large residual.
TYPED_TEST_P(TriangularSolve, has_a_small_residual_however_ill_conditioned_the_triangle_is) {
  using T = typename TypeParam::first_type;
  const auto minus_one = [](auto i, auto k) { return i == k ? 1.0 : -1.0; };
  const auto kahan = [](auto i, auto k) { return std::pow(0.8, double(k)) * (i == k ? 1 : -0.6); };
  const auto one_tiny_pivot = [](auto i, auto k) { return i != k ? 0.5 : i == 5 ? 1e-7 : 1.0; };
  for (const TriangleForm form : all_triangle_forms())
    for (const std::int64_t n : {16, 40, 64, 100, 128, 150})
      for (const std::int64_t count : {1, 7, 33, 70}) {
        if (std::is_same_v<T, float> && n > 100) continue;  // solutions that overflow
        SCOPED_TRACE(testing::Message() << "order " << n << ", " << form << ", " << count << " right-hand sides");
        Matrix<T> B = padded_rhs<T>(n, count, form);
        this->expect_residual(stored_triangle<T>(n, form, kahan), form, B, 4 * double(n));
        this->expect_residual(stored_triangle<T>(n, form, one_tiny_pivot), form, B, 4 * double(n));
        this->expect_residual(stored_triangle<T>(n, form, minus_one), form, B, 4 * double(n));
      }
}

/// Blocks of order 16 have a condition of some 200, and those of order 128 one of 1e13. The solution is small, and what an inverse of such
/// a block is made of is not.
TYPED_TEST_P(TriangularSolve, has_a_small_residual_where_only_large_blocks_are_ill_conditioned) {
  using T = typename TypeParam::first_type;
  const std::int64_t n = 300;
  for (const TriangleForm form : all_triangle_forms())
    for (const std::int64_t count : {1, 3, 8}) {
      if (form.right) continue;
      SCOPED_TRACE(testing::Message() << form << ", " << count << " right-hand sides");
      Matrix<T> B = padded_rhs<T>(n, count, form);
      for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t i = 0; i < n; ++i)
          B(i, c) = T(double(c + 1) * (1 - 0.25 * double(form.lower ? i : n - 1 - i)));
      this->expect_residual(stored_triangle<T>(n, form, [](auto i, auto k) { return i == k ? 1.0 : -0.25; }), form, B,
                            4 * double(n));
    }
}

TYPED_TEST_P(TriangularSolve, never_hides_a_nan_or_an_infinity) {
  using T = typename TypeParam::first_type;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  const TriangleForm form{true, false, false, false};
  for (const std::int64_t n : {20, 128, 300})
    for (const std::int64_t count : {2, 40})
      for (const std::int64_t at : {std::int64_t(0), n / 2, n - 1})
        for (const T bad : {nan, infinity, T(0)}) {
          SCOPED_TRACE(testing::Message()
                       << "order " << n << ", " << count << " right-hand sides, " << bad << " at " << at);
          Matrix<T> A = random_triangle<T>(n, form), B = padded_rhs<T>(n, count, form);
          if (bad != 0) {
            B(at, 1) = bad;
            const Matrix<T> X = this->solved(A, form, B);
            EXPECT_FALSE(std::isfinite(X(at, 1)));
            EXPECT_TRUE(std::isfinite(double(infinity_norm(X.view().columns(0, 1))))) << "of another side";
            B(at, 1) = 1;
          }
          A(at, at) = bad;
          const Matrix<T> X = this->solved(A, form, B);
          EXPECT_EQ(std::isnan(X(at, 0)), std::isnan(bad));
          EXPECT_EQ(std::isfinite(X(at, 0)), bad == infinity);
          if (at > 0 && bad != infinity) {
            Matrix<T> below = random_triangle<T>(n, form);
            below(at, 0) = nan;
            EXPECT_TRUE(std::isnan(this->solved(below, form, B)(at, 0)));
          }
        }
}

TYPED_TEST_P(TriangularSolve, gives_the_same_bits_again) {
  using T = typename TypeParam::first_type;
  constexpr std::int64_t n = std::is_same_v<typename TypeParam::second_type, Cpu> ? 1000 : 3000;
  for (const TriangleForm form : {TriangleForm{true, true, false, false}, TriangleForm{false, false, true, true}})
    for (const std::int64_t count : {1, 5, 20, 100}) {
      const Matrix<T> A = random_triangle<T>(n, form), B = padded_rhs<T>(n, count, form);
      const Matrix<T> X = this->solved(A, form, B);
      for (int again = 0; again < 3; ++again) EXPECT_TRUE(same_bits(X, this->solved(A, form, B)));
    }
}

REGISTER_TYPED_TEST_SUITE_P(TriangularSolve, has_a_small_residual_in_every_form, has_a_small_residual_at_larger_orders,
                            has_a_small_residual_however_ill_conditioned_the_triangle_is,
                            has_a_small_residual_where_only_large_blocks_are_ill_conditioned,
                            never_hides_a_nan_or_an_infinity, gives_the_same_bits_again);

template <class Space>
using BothPrecisions = testing::Types<std::pair<double, Space>, std::pair<float, Space>>;

}  // namespace lasolve::test
