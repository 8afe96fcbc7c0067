// The kernels of `tensor` for cards before and after Hopper, on whatever card of compute capability 8.0 or later is here: where it is
// Hopper, the conformance suite does not see them.
#include "gemm/cuda/tensor_mma.cuh"
//
#include "products.hpp"

namespace lasolve::test {
namespace {

const GemmBackend<Cuda> tensor_for_any_card{
    .name = "tensor_mma",
    .summary = "",
    .f64 = tensor_mma::gemm<double>,
    .tf32 = tensor_mma::gemm<float>,
    .f16 = {tensor_mma::gemm<fp16>, 0x1p-20},
    .bf16 = {tensor_mma::gemm<bf16>, 0x1p-20},
};

class TensorMmaOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string why = why_no(Device::cuda);
    if (why.empty()) why = tensor_mma::why_not(0);
    if (!why.empty()) GTEST_SKIP() << why;
  }

  /// test(kernel, q, T(), In()) for each precision.
  template <class Test>
  void with_kernels(Test test) {
    Queue<Cuda> q(0);
    for_each_precision([&](auto P) {
      using A = Arithmetic<P>;
      SCOPED_TRACE(A::name);
      if (const auto& kernel = tensor_for_any_card.in<P>())
        test(kernel, q, typename A::Result(), typename A::Operand());
    });
  }

  void expect_conforming(const std::vector<Product>& products) {
    with_kernels([&]<class T, class In>(const auto& kernel, Queue<Cuda>& q, T, In) {
      for (Product p : products)
        for (Op op_a : ops)
          for (Op op_b : ops) {
            p.op_a = op_a, p.op_b = op_b;
            SCOPED_TRACE(testing::Message() << p);
            const auto in = random_inputs<T, In>(p);
            expect_close(computed(q, kernel, in), in, kernel.unit_roundoff);
            if (HasFailure()) return;
          }
    });
  }
};

/// At a margin of 8 vectors of 16 bytes end inside of rows and columns; at 3 operands are packed. NaN are in C where β = 0.
TEST_F(TensorMmaOnCuda, conforms_with_each_size_in_each_role) {
  std::vector<Product> products;
  for (std::int64_t size : {0, 1, 31, 33, 127, 129, 257})
    for (std::int64_t margin : {3, 8}) {
      products.push_back({.m = size, .n = 65, .k = 34, .margin = margin});
      products.push_back({.m = 34, .n = size, .k = 65, .alpha = 0.5, .beta = 0, .margin = margin});
      products.push_back({.m = 65, .n = 34, .k = size, .beta = -0.5, .margin = margin});
    }
  expect_conforming(products);
}

TEST_F(TensorMmaOnCuda, conforms_when_every_size_is_large) {
  expect_conforming({{.m = 257, .n = 129, .k = 255, .margin = 8}, {.m = 256, .n = 256, .k = 256, .margin = 0}});
}

TEST_F(TensorMmaOnCuda, is_exact_for_integers) {
  with_kernels([]<class T, class In>(const auto& kernel, Queue<Cuda>& q, T, In) {
    for (Op op_a : ops)
      for (Op op_b : ops) {
        const Product p{.m = 130, .n = 67, .k = 257, .op_a = op_a, .op_b = op_b, .margin = 8};
        SCOPED_TRACE(testing::Message() << p);
        const auto in = inputs<T, In>(p, [random = Random()]() mutable { return random.integer(8); });
        const auto expected = product<T, In>(T(p.alpha), in.a(), in.b(), T(p.beta), in.C.view());
        const Matrix<T> C = computed(q, kernel, in);
        for (std::int64_t j = 0; j < C.cols(); ++j)
          for (std::int64_t i = 0; i < C.rows(); ++i) ASSERT_EQ(C(i, j), T(expected(i, j))) << i << ", " << j;
      }
  });
}

/// Of A its row of C, of B its column, and nothing else.
TEST_F(TensorMmaOnCuda, propagates_nan_and_infinity) {
  with_kernels([]<class T, class In>(const auto& kernel, Queue<Cuda>& q, T, In) {
    for (const In bad : {In(nan<In>), least_nan<In>(), In(std::numeric_limits<float>::infinity())})
      for (const Op op : ops)
        for (const bool in_a : {true, false}) {
          const Product p{.m = 72, .n = 80, .k = 88, .op_a = op, .op_b = op, .alpha = 1, .beta = 0, .margin = 8};
          auto in = random_inputs<T, In>(p);
          (in_a ? in.A : in.B)(71, 40) = bad;
          const auto expected = product<T, In>(T(1), in.a(), in.b(), T(0), in.C.view());
          const Matrix<T> C = computed(q, kernel, in);
          for (std::int64_t j = 0; j < C.cols(); ++j)
            for (std::int64_t i = 0; i < C.rows(); ++i) {
              ASSERT_EQ(std::isfinite(C(i, j)), std::isfinite(expected(i, j))) << i << ", " << j;
              ASSERT_TRUE(!std::isnan(expected(i, j)) || std::isnan(C(i, j))) << i << ", " << j;
            }
        }
  });
}

}  // namespace
}  // namespace lasolve::test
