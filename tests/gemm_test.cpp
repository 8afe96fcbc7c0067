// The conformance of every GEMM backend in the table: a new kernel is tested with no edit here.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ostream>
#include <set>
#include <variant>

#include "matrices.hpp"
#include "places.hpp"

namespace lasolve::test {
namespace {

constexpr Op ops[] = {Op::none, Op::transpose};

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
struct Inputs {
  Product p;
  Matrix<T> A, B, C;
  Operand<T> a() const { return {A.view(), p.op_a}; }
  Operand<T> b() const { return {B.view(), p.op_b}; }
};

/// A, B and C as stored, of entry(); C is NaN where β = 0 forbids to read it.
template <class T, class Entry>
Inputs<T> inputs(const Product& p, Entry entry) {
  const auto filled = [&](std::int64_t m, std::int64_t n, Op op) {
    if (op == Op::transpose) std::swap(m, n);
    return matrix_of<T>(m, n, [&](auto, auto) { return entry(); });
  };
  auto A = filled(p.m, p.k, p.op_a), B = filled(p.k, p.n, p.op_b), C = filled(p.m, p.n, Op::none);
  if (p.beta == 0) as_eigen(C.view()).setConstant(std::numeric_limits<T>::quiet_NaN());
  return {p, std::move(A), std::move(B), std::move(C)};
}

template <class T>
Inputs<T> random_inputs(const Product& p) {
  return inputs<T>(p, Random());
}

/// A matrix inside a frame of NaN.
template <class T>
Matrix<T> framed(const Matrix<T>& A, std::int64_t margin) {
  Matrix<T> frame(A.rows() + 2 * margin, A.cols() + 2 * margin, A.rows() + 2 * margin);
  as_eigen(frame.view()).setConstant(std::numeric_limits<T>::quiet_NaN());
  as_eigen(frame.view().block(margin, margin, A.rows(), A.cols())) = as_eigen(A.view());
  return frame;
}

template <class T, class Place>
MatrixView<T, Place> inside(Matrix<T, Place>& frame, std::int64_t margin) {
  return frame.view().block(margin, margin, frame.rows() - 2 * margin, frame.cols() - 2 * margin);
}

template <class Place_, class T>
struct Kernel {
  using Place = Place_;
  using Element = T;
  const GemmBackend<Place>* backend;

  friend void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.backend->summary; }
  double u() const { return std::is_same_v<T, double> ? backend->unit_roundoff_f64 : backend->unit_roundoff_f32; }

  /// C of the product, computed at the place inside frames that must stay as they were.
  Matrix<T> operator()(Queue<Place>& q, const Inputs<T>& in) const {
    const auto margin = in.p.margin;
    auto A = upload(q, framed(in.A, margin)), B = upload(q, framed(in.B, margin)), C = upload(q, framed(in.C, margin));
    (*backend)(q, T(in.p.alpha), {inside(A, margin), in.p.op_a}, {inside(B, margin), in.p.op_b}, T(in.p.beta),
               inside(C, margin));
    q.finish();
    Matrix<T> after = download(q, C);
    Matrix<T> result = rounded<T>(inside(after, margin));
    as_eigen(inside(after, margin)).setConstant(std::numeric_limits<T>::quiet_NaN());
    EXPECT_TRUE(as_eigen(after.view()).array().isNaN().all()) << "wrote outside C";
    return result;
  }
};

/// ‖C − Cref‖ ≤ u·(√(k+2)·max(|α|,1)·‖A‖‖B‖ + 2·max(|β|,1)·‖C₀‖), Frobenius norms.
template <class T>
void expect_close(const Matrix<T>& C, const Inputs<T>& in, double u) {
  auto error = product<T>(T(in.p.alpha), in.a(), in.b(), T(in.p.beta), in.C.view());
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) error(i, j) -= C(i, j);
  const double ab =
      std::sqrt(double(in.p.k + 2)) * std::max(std::abs(in.p.alpha), 1.0) * frobenius(in.A) * frobenius(in.B);
  const double c = in.p.beta == 0 ? 0 : 2 * std::max(std::abs(in.p.beta), 1.0) * frobenius(in.C);
  EXPECT_LE(frobenius(error), u * (ab + c));
}

using AnyKernel = std::variant<Kernel<Cpu, double>, Kernel<Cpu, float>, Kernel<Cuda, double>, Kernel<Cuda, float>>;

/// Every precision of every backend at a place.
template <class Place>
std::vector<AnyKernel> kernels() {
  std::vector<AnyKernel> all;
  for (const auto* backend : gemm_backends<Place>()) {
    if (backend->f64) all.push_back(Kernel<Place, double>{backend});
    if (backend->f32) all.push_back(Kernel<Place, float>{backend});
  }
  return all;
}

std::string name_of_kernel(const testing::TestParamInfo<AnyKernel>& info) {
  return std::visit(
      [](auto kernel) {
        const bool f64 = std::is_same_v<typename decltype(kernel)::Element, double>;
        return kernel.backend->name + std::string(f64 ? "_f64" : "_f32");
      },
      info.param);
}

class Gemm : public testing::TestWithParam<AnyKernel> {
 protected:
  void SetUp() override {
    const std::string why = std::visit(
        [](auto kernel) {
          const std::string no_device = why_no(device_of<typename decltype(kernel)::Place>);
          if (!no_device.empty() || !kernel.backend->unavailable) return no_device;
          return kernel.backend->unavailable(0);
        },
        GetParam());
    if (!why.empty()) GTEST_SKIP() << why;
  }

  /// test(kernel, queue, type) with one queue.
  template <class Test>
  void with_kernel(Test test) {
    std::visit(
        [&](auto kernel) {
          using K = decltype(kernel);
          auto q = test_queue<typename K::Place>();
          test([&](const auto& in) { return kernel(q, in); }, typename K::Element(), kernel.u());
        },
        GetParam());
  }

  /// Each product, its transposes, and whether it is within the bound.
  void expect_conforming(const std::vector<Product>& products) {
    with_kernel([&](auto compute, auto zero, double u) {
      for (Product p : products)
        for (Op op_a : ops)
          for (Op op_b : ops) {
            p.op_a = op_a, p.op_b = op_b;
            SCOPED_TRACE(p);
            const auto in = random_inputs<decltype(zero)>(p);
            expect_close(compute(in), in, u);
            if (HasFailure()) return;
          }
    });
  }
};

TEST_P(Gemm, conforms_at_small_and_empty_sizes) {
  std::vector<Product> products;
  for (std::int64_t m : {0, 1, 33, 128})
    for (std::int64_t n : {0, 1, 33, 128})
      for (std::int64_t k : {0, 1, 33, 128}) {
        products.push_back({.m = m, .n = n, .k = k});
        products.push_back({.m = m, .n = n, .k = k, .alpha = 0.5, .beta = 0, .margin = 0});
      }
  expect_conforming(products);
}

TEST_P(Gemm, conforms_with_each_size_in_each_role) {
  std::vector<Product> products;
  for (std::int64_t size : {0, 1, 31, 32, 33, 127, 128, 129, 257})
    for (std::int64_t margin : {0, 2, 5}) {
      products.push_back({.m = size, .n = 65, .k = 34, .margin = margin});
      products.push_back({.m = 34, .n = size, .k = 65, .alpha = 1, .beta = 0, .margin = margin});
      products.push_back({.m = 65, .n = 34, .k = size, .margin = margin});
    }
  expect_conforming(products);
}

TEST_P(Gemm, conforms_when_every_size_is_large) { expect_conforming({{.m = 257, .n = 129, .k = 255}}); }

TEST_P(Gemm, conforms_for_every_alpha_and_beta) {
  std::vector<Product> products;
  for (double alpha : {-1.0, 0.5, 0.0, 1.0, 3.0})
    for (double beta : {0.0, 1.0, -0.5, 2.0})
      for (std::int64_t k : {0, 47}) products.push_back({.m = 67, .n = 45, .k = k, .alpha = alpha, .beta = beta});
  expect_conforming(products);
}

TEST_P(Gemm, scales_C_exactly_when_k_is_zero) {
  with_kernel([](auto compute, auto zero, double) {
    using T = decltype(zero);
    for (double beta : {0.0, 1.0, -0.5}) {
      const auto in = random_inputs<T>({.m = 33, .n = 129, .k = 0, .beta = beta});
      const Matrix<T> C = compute(in);
      for (std::int64_t j = 0; j < C.cols(); ++j)
        for (std::int64_t i = 0; i < C.rows(); ++i) ASSERT_EQ(C(i, j), beta == 0 ? T(0) : T(beta) * in.C(i, j));
    }
  });
}

/// Integers whose products and sums need no rounding: below 2⁵³ in f64 and 2²⁴ in f32; small where operands are cut.
TEST_P(Gemm, is_exact_for_integers) {
  with_kernel([](auto compute, auto zero, double u) {
    using T = decltype(zero);
    const std::int64_t most = u > unit_roundoff<T> ? 8 : std::is_same_v<T, double> ? 1 << 20 : 100;
    for (Op op_a : ops)
      for (Op op_b : ops)
        for (double beta : {0.0, 1.0}) {
          const Product p{.m = 130, .n = 67, .k = 257, .op_a = op_a, .op_b = op_b, .beta = beta};
          SCOPED_TRACE(p);
          const auto in = inputs<T>(p, [random = Random(), most]() mutable { return random.integer(most); });
          const auto expected = product<T>(T(p.alpha), in.a(), in.b(), T(p.beta), in.C.view());
          const Matrix<T> C = compute(in);
          for (std::int64_t j = 0; j < C.cols(); ++j)
            for (std::int64_t i = 0; i < C.rows(); ++i) ASSERT_EQ(C(i, j), T(expected(i, j))) << i << ", " << j;
        }
  });
}

/// A NaN or an infinity in A spoils its row of C, one in B its column, and nothing else.
TEST_P(Gemm, propagates_nan_and_infinity) {
  with_kernel([](auto compute, auto zero, double) {
    using T = decltype(zero);
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const T bad : {nan, inf, -inf})
      for (const bool in_a : {true, false})
        for (const std::int64_t at : {0, 40, 65}) {
          SCOPED_TRACE(testing::Message() << bad << (in_a ? " in A" : " in B") << ", row and column " << at);
          auto in = random_inputs<T>({.m = 66, .n = 70, .k = 68, .op_a = Op::transpose, .alpha = 0.5, .beta = 0});
          (in_a ? in.A : in.B)(at, at) = bad;
          const auto expected = product<T>(T(0.5), in.a(), in.b(), T(0), in.C.view());
          const Matrix<T> C = compute(in);
          for (std::int64_t j = 0; j < C.cols(); ++j)
            for (std::int64_t i = 0; i < C.rows(); ++i) {
              ASSERT_EQ(std::isfinite(C(i, j)), std::isfinite(expected(i, j))) << i << ", " << j;
              ASSERT_TRUE(!std::isnan(expected(i, j)) || std::isnan(C(i, j))) << i << ", " << j;
            }
        }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, Gemm, testing::ValuesIn(kernels<Cpu>()), name_of_kernel);
INSTANTIATE_TEST_SUITE_P(Cuda, Gemm, testing::ValuesIn(kernels<Cuda>()), name_of_kernel);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Gemm);

template <class Place>
void expect_complete_records() {
  std::set<std::string> names;
  for (const auto* backend : gemm_backends<Place>()) {
    SCOPED_TRACE(backend->name);
    EXPECT_STRNE(backend->name, "");
    EXPECT_STRNE(backend->summary, "");
    EXPECT_TRUE(names.insert(backend->name).second) << "the name is not unique";
    EXPECT_TRUE(backend->f64 && backend->f32) << "a precision is not offered";
    EXPECT_GE(backend->unit_roundoff_f64, unit_roundoff<double>);
    EXPECT_GE(backend->unit_roundoff_f32, unit_roundoff<float>);
  }
  for (const char* rung : {"naive", "coalesced", "tiled"})
    EXPECT_TRUE(names.empty() || names.contains(rung)) << "the ladder has no " << rung;
}

TEST(GemmTable, has_complete_records_on_the_cpu) {
  EXPECT_FALSE(gemm_backends<Cpu>().empty());
  expect_complete_records<Cpu>();
}
TEST(GemmTable, has_complete_records_on_Cuda) { expect_complete_records<Cuda>(); }

TEST(GemmTable, says_what_missing_backends_need) {
  for (const auto& missing : missing_gemm_backends()) EXPECT_STRNE(missing.needs, "") << missing.name;
}

TEST(GemmBackend, refuses_sizes_that_do_not_agree_and_types_that_are_not_offered) {
  Queue<Cpu> q(1);
  const GemmBackend<Cpu>& gemm = *gemm_backends<Cpu>()[0];
  Matrix<double> A = random_matrix(3, 4), B = random_matrix(4, 5), C = random_matrix(3, 5);
  EXPECT_NO_THROW(gemm(q, 1.0, A.view(), B.view(), 0.0, C.view()));
  EXPECT_THROW(gemm(q, 1.0, B.view(), A.view(), 0.0, C.view()), std::invalid_argument);
  EXPECT_THROW(gemm(q, 1.0, transposed(A.view()), B.view(), 0.0, C.view()), std::invalid_argument);
  EXPECT_THROW((GemmBackend<Cpu>{"none", "offers nothing"})(q, 1.0, A.view(), B.view(), 0.0, C.view()),
               std::invalid_argument);
}

}  // namespace
}  // namespace lasolve::test
