// The conformance of every GEMM backend in the table: a new kernel is tested with no edit here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <variant>

#include "products.hpp"

namespace lasolve::test {
namespace {

/// One precision of one backend, at any place.
template <class T, class In>
struct Kernel {
  using Result = T;
  using Element = In;
  using Compute = std::function<Matrix<T>(const Inputs<T, In>&)>;
  std::string name, summary;
  double u;
  bool coarse;                           ///< than its precision
  std::function<std::string()> why_not;  ///< empty: it can run here
  std::function<Compute()> start;        ///< with a queue of its own

  friend void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.summary; }
};
using AnyKernel = std::variant<Kernel<double, double>, Kernel<float, float>, Kernel<float, fp16>, Kernel<float, bf16>>;

/// Every precision of every backend at a place.
template <class Place>
std::vector<AnyKernel> kernels() {
  std::vector<AnyKernel> all;
  for (const auto* backend : gemm_backends<Place>())
    for_each_precision([&](auto P) {
      using A = Arithmetic<P>;
      using K = Kernel<typename A::Result, typename A::Operand>;
      const auto& kernel = backend->template in<P>();
      if (!kernel) return;
      const auto why_not = [backend] {
        const std::string no_device = why_no(device_of<Place>);
        return no_device.empty() && backend->unavailable ? backend->unavailable(0) : no_device;
      };
      const auto start = [&kernel]() -> typename K::Compute {
        const std::shared_ptr<Queue<Place>> q(new Queue<Place>(test_queue<Place>()));
        return [q, &kernel](const auto& in) { return computed(*q, kernel, in); };
      };
      all.push_back(K{backend->name + std::string("_") + A::name, backend->summary, kernel.unit_roundoff,
                      kernel.unit_roundoff > A::unit_roundoff, why_not, start});
    });
  return all;
}

std::string name_of_kernel(const testing::TestParamInfo<AnyKernel>& info) {
  return std::visit([](const auto& kernel) { return kernel.name; }, info.param);
}

class Gemm : public testing::TestWithParam<AnyKernel> {
 protected:
  void SetUp() override {
    const std::string why = std::visit([](const auto& kernel) { return kernel.why_not(); }, GetParam());
    if (!why.empty()) GTEST_SKIP() << why;
  }

  /// test(kernel, compute, T(), In()), with one queue.
  template <class Test>
  void with_kernel(Test test) {
    std::visit(
        [&](const auto& kernel) {
          using K = std::remove_cvref_t<decltype(kernel)>;
          test(kernel, kernel.start(), typename K::Result(), typename K::Element());
        },
        GetParam());
  }

  /// Each product, its transposes, and whether it is within the bound.
  void expect_conforming(const std::vector<Product>& products) {
    with_kernel([&]<class T, class In>(const auto& kernel, auto compute, T, In) {
      for (Product p : products)
        for (Op op_a : ops)
          for (Op op_b : ops) {
            p.op_a = op_a, p.op_b = op_b;
            SCOPED_TRACE(p);
            const auto in = random_inputs<T, In>(p);
            expect_close(compute(in), in, kernel.u);
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
  with_kernel([]<class T, class In>(const auto&, auto compute, T, In) {
    for (double beta : {0.0, 1.0, -0.5}) {
      const auto in = random_inputs<T, In>({.m = 33, .n = 129, .k = 0, .beta = beta});
      const Matrix<T> C = compute(in);
      for (std::int64_t j = 0; j < C.cols(); ++j)
        for (std::int64_t i = 0; i < C.rows(); ++i) ASSERT_EQ(C(i, j), beta == 0 ? T(0) : T(beta) * in.C(i, j));
    }
  });
}

/// Integers that every operand holds, and whose products and sums need no rounding: below 2⁵³ in f64 and 2²⁴ in f32;
/// small where operands are cut.
TEST_P(Gemm, is_exact_for_integers) {
  with_kernel([]<class T, class In>(const auto& kernel, auto compute, T, In) {
    const std::int64_t most = kernel.coarse ? 8 : std::is_same_v<T, double> ? 1 << 20 : 100;
    for (Op op_a : ops)
      for (Op op_b : ops)
        for (double beta : {0.0, 1.0}) {
          const Product p{.m = 130, .n = 67, .k = 257, .op_a = op_a, .op_b = op_b, .beta = beta};
          SCOPED_TRACE(p);
          const auto in = inputs<T, In>(p, [random = Random(), most]() mutable { return random.integer(most); });
          const auto expected = product<T, In>(T(p.alpha), in.a(), in.b(), T(p.beta), in.C.view());
          const Matrix<T> C = compute(in);
          for (std::int64_t j = 0; j < C.cols(); ++j)
            for (std::int64_t i = 0; i < C.rows(); ++i) ASSERT_EQ(C(i, j), T(expected(i, j))) << i << ", " << j;
        }
  });
}

/// Rows of A and columns of B differ by up to 2¹⁰⁰ and may be zero, and each element of C keeps the bound of its own row and column.
TEST_P(Gemm, is_accurate_in_rows_and_columns_of_any_magnitude) {
  with_kernel([]<class T, class In>(const auto& kernel, auto compute, T, In) {
    if constexpr (sizeof(In) >= 4) {
      auto in = random_inputs<T, In>({.m = 70, .n = 66, .k = 130, .alpha = 1, .beta = 0});
      const auto factor = [](std::int64_t i) { return i == 3 ? In(0) : std::ldexp(In(1), int(i * 37 % 101) - 50); };
      std::vector<double> rows(70), cols(66);  // norms
      for (std::int64_t l = 0; l < 130; ++l) {
        for (std::int64_t i = 0; i < 70; ++i) rows[i] = std::hypot(rows[i], double(in.A(i, l) *= factor(i)));
        for (std::int64_t j = 0; j < 66; ++j) cols[j] = std::hypot(cols[j], double(in.B(l, j) *= factor(j)));
      }
      const auto expected = product<T, In>(T(1), in.a(), in.b(), T(0), in.C.view());
      const Matrix<T> C = compute(in);
      for (std::int64_t j = 0; j < C.cols(); ++j)
        for (std::int64_t i = 0; i < C.rows(); ++i)
          ASSERT_LE(std::abs(double(C(i, j) - expected(i, j))), kernel.u * std::sqrt(132.0) * rows[i] * cols[j])
              << i << ", " << j;
    }
  });
}

/// A NaN or an infinity in A spoils its row of C, one in B its column, and nothing else; whether operands lie along k or not, at
/// multiples of 16 bytes or not.
TEST_P(Gemm, propagates_nan_and_infinity) {
  with_kernel([]<class T, class In>(const auto&, auto compute, T, In) {
    const In inf = In(std::numeric_limits<float>::infinity());
    for (const In bad : {In(nan<In>), least_nan<In>(), inf, In(-float(inf))})
      for (const Op op : ops)
        for (const std::int64_t margin : {3, 8})
          for (const bool in_a : {true, false})
            for (const std::int64_t at : {0, 40, 71}) {
              const Product p{.m = 72,
                              .n = 80,
                              .k = 88,
                              .op_a = op,
                              .op_b = flipped(op),
                              .alpha = 0.5,
                              .beta = 0,
                              .margin = margin};
              SCOPED_TRACE(testing::Message()
                           << p << ": " << float(bad) << (in_a ? " in A" : " in B") << ", row and column " << at);
              auto in = random_inputs<T, In>(p);
              (in_a ? in.A : in.B)(at, at) = bad;
              const auto expected = product<T, In>(T(0.5), in.a(), in.b(), T(0), in.C.view());
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
    bool offers = false;
    for_each_precision([&](auto P) {
      offers = offers || backend->template in<P>();
      EXPECT_GE(backend->template in<P>().unit_roundoff, Arithmetic<P>::unit_roundoff);
    });
    EXPECT_TRUE(offers) << "no precision";
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
