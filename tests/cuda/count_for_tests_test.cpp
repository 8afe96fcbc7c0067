// What a call makes anew on a device: nothing where its sizes were seen before. And what it is when memory is short.
#include <cuda_runtime.h>

#include <optional>
#include <thread>

#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/memory_in_order.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

class MadeOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    if (!made_until_now()) GTEST_SKIP() << "a build with LASOLVE_TEST_HOOKS counts";
  }
  void TearDown() override { fail_allocations(0, 0); }
};

Options named(Method method) {
  Options o;
  o.device = {Device::cuda, 0};
  o.gemm = std::string("cublas");
  o.factorization = method;
  o.check = false;
  return o;
}

template <class T>
struct OnDevice {
  OnDevice(std::int64_t n, std::int64_t nrhs)
      : A(dominant_matrix<T>(n)),
        B(right_hand_sides<T>(A.view(), nrhs)),
        dA(upload(q, A)),
        dB(upload(q, B)),
        dX(upload(q, B)) {}

  void solve(const Options& o) {
    Factorization<T> factors(std::as_const(dA).view(), o);
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_TRUE(factors.solve(std::as_const(dB).view(), dX.view()).outcome.ok());
  }
  void expect_solved() { EXPECT_LT((hpl_residual<T>(A.view(), B.view(), download(q, dX))), hpl_threshold); }

  Queue<Cuda> q{0};
  Matrix<T> A, B;
  Matrix<T, Cuda> dA, dB, dX;
};

/// What `call` makes when it has been called before.
template <class Call>
void expect_nothing_new(Call call, int warmups = 1) {
  for (int i = 0; i < warmups; ++i) call();
  const long made = *made_until_now();
  const std::size_t held = held_by_pool(0);
  call();
  EXPECT_EQ(*made_until_now() - made, 0);
  EXPECT_EQ(held_by_pool(0), held);
}

template <class T>
void expect_nothing_new_on_device() {
  for (const std::int64_t n : {64, 1000, 2500})
    for (const std::int64_t nrhs : {1, 100}) {
      OnDevice<T> system(n, nrhs);
      for (const Method method : {Method::lu, Method::cholesky, Method::automatic})
        for (const bool bare : {true, false}) {
          SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, n = " << n << ", nrhs = " << nrhs << ", method "
                                          << int(method) << (bare ? ", bare" : ""));
          Options o;
          o.factorization = method;
          expect_nothing_new([&] { system.solve(bare ? named(method) : o); });
          system.expect_solved();
        }
    }
}

TEST_F(MadeOnCuda, is_nothing_in_a_second_call_in_fp64) { expect_nothing_new_on_device<double>(); }
TEST_F(MadeOnCuda, is_nothing_in_a_second_call_in_fp32) { expect_nothing_new_on_device<float>(); }

TEST_F(MadeOnCuda, is_nothing_in_a_second_call_with_refinement_or_a_condition) {
  OnDevice<double> system(700, 3);
  Options coarse;
  coarse.precision = Precision::fp32;
  expect_nothing_new([&] { system.solve(coarse); });
  Options condition;
  condition.condition = true;
  expect_nothing_new([&] { system.solve(condition); });
}

TEST_F(MadeOnCuda, is_nothing_in_a_later_call_from_the_host) {
  const Matrix<double> A = dominant_matrix<double>(900), B = right_hand_sides<double>(A.view(), 2);
  Matrix<double> X(900, 2);
  for (const bool arrives : {false, true}) {
    Options o;
    o.device = {Device::cuda, 0};
    o.tuning = tuning_of(o.device);
    o.tuning->arriving_bytes = arrives ? 0 : std::int64_t(1) << 40;
    // Pinned memory is made piece by piece, as long as there is less than four pieces.
    expect_nothing_new([&] { EXPECT_TRUE(solve(A.view(), B.view(), X.view(), o).outcome.ok()); }, 5);
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
  }
}

TEST_F(MadeOnCuda, is_enough_for_several_that_live_at_once) {
  OnDevice<double> one(300, 2), other(500, 1);
  const auto both = [&] {
    Factorization<double> first(std::as_const(one.dA).view()), second(std::as_const(other.dA).view());
    EXPECT_TRUE(second.solve(std::as_const(other.dB).view(), other.dX.view()).outcome.ok());
    EXPECT_TRUE(first.solve(std::as_const(one.dB).view(), one.dX.view()).outcome.ok());
    std::optional<Factorization<double>> moved = std::move(first);
    std::thread([&] {
      EXPECT_TRUE(moved->solve(std::as_const(one.dB).view(), one.dX.view()).outcome.ok());
      moved.reset();
    }).join();
    EXPECT_TRUE(second.solve(std::as_const(other.dB).view(), other.dX.view()).outcome.ok());
  };
  expect_nothing_new(both, 2);
  one.expect_solved(), other.expect_solved();
}

TEST_F(MadeOnCuda, is_found_clean_after_an_exception) {
  OnDevice<double> system(600, 2);
  struct Stopped {};
  Options stops;
  stops.progress = [](double) { throw Stopped(); };
  expect_nothing_new([&] {
    EXPECT_THROW(Factorization<double>(std::as_const(system.dA).view(), stops), Stopped);
    EXPECT_THROW(Factorization<double>(std::as_const(system.dB).view()), std::invalid_argument);
    system.solve({});
  });
  system.expect_solved();
}

/// C ← A·op(B) of matrices that are all 0, when to make memory `fails`.
void multiply_zeros(Queue<Cuda>& q, const Gemm<float, Cuda>& gemm, Op b, std::int64_t m, std::int64_t n, std::int64_t k,
                    bool fails) {
  SCOPED_TRACE(testing::Message() << gemm.backend().name << ", products " << int(gemm.products()) << ", " << m << " x "
                                  << n << " x " << k << (b == Op::none ? "" : ", B transposed"));
  Matrix<float, Cuda> A(m, k), B(b == Op::none ? k : n, b == Op::none ? n : k), C(m, n);
  for (const Matrix<float, Cuda>* X : {&A, &B})
    CUDA_CHECK(cudaMemsetAsync(const_cast<float*>(X->data()), 0, X->bytes(), q.stream()));
  if (fails) fail_allocations(1, 1000);
  EXPECT_NO_THROW(gemm(q, 1, std::as_const(A).view(), {std::as_const(B).view(), b}, 0, C.view()));
  fail_allocations(0, 0);
  q.finish();
}

TEST_F(MadeOnCuda, is_nothing_for_products_that_were_prepared) {
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (!backend->prepare || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    for (const Precision products : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
      const Gemm<float, Cuda> gemm(*backend, products);
      if (!gemm) continue;
      for (const Op b : {Op::none, Op::transpose})
        for (const std::int64_t k : {200, 512, 5000}) {
          Queue<Cuda> q(0);
          multiply_zeros(q, gemm, b, 8, 8, 8, false);  // libraries are begun
          gemm.prepare(q, Op::none, b, 3000, 2000, k);
          for (const std::int64_t part : {1, 2, 3}) multiply_zeros(q, gemm, b, 3000 / part, 2000 / part, k, true);
          if (k > 512) multiply_zeros(q, gemm, b, 3000, 2000, 512, true);
        }
    }
  }
}

/// Of a caller's backend, which leaves cuBLAS otherwise than it was.
void with_tf32(const void*, Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
               MatrixView<float, Cuda> C) {
  CUDA_CHECK(cublasSetMathMode(q.blas(), CUBLAS_TF32_TENSOR_OP_MATH));
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>())
    if (backend->name == std::string("cublas")) (*backend)(q, alpha, A, B, beta, C);
}
constexpr GemmBackend<Cuda> tf32_all_over{.name = "tf32_all_over", .summary = "", .kernels = with_tf32};

TEST_F(MadeOnCuda, has_no_setting_of_who_had_it_before) {
  OnDevice<float> system(1200, 1);
  const auto bits = [&] {
    system.solve(named(Method::lu));
    return download(system.q, system.dX);
  };
  const Matrix<float> before = bits();
  Options o = named(Method::lu);
  o.gemm = &tf32_all_over;
  o.tuning = tuning_of(o.device);
  o.tuning->arriving_bytes = 7;
  system.solve(o);
  EXPECT_TRUE(same_bits(bits(), before));
}

TEST_F(MadeOnCuda, counts_as_free_when_it_is_not_used) {
  constexpr std::int64_t n = 2000;
  OnDevice<double> system(n, 1);
  system.solve({});
  if (held_by_pool(0) == 0) GTEST_SKIP() << "this device has no pools of memory";
  EXPECT_GE(Memory<Cuda>::available(0), std::size_t(n * n) * sizeof(double));
  EXPECT_GE(Memory<Cuda>::available(), Memory<Cuda>::available(0));
}

TEST_F(MadeOnCuda, is_given_back_where_memory_is_short) {
  OnDevice<double> system(400, 2);
  system.solve({});
  for (long k = 1; k <= 12; ++k) {
    SCOPED_TRACE(testing::Message() << "attempt " << k);
    fail_allocations(k, 1);
    system.solve({});
    system.expect_solved();
  }
}

TEST_F(MadeOnCuda, is_whole_after_every_allocation_that_fails) {
  OnDevice<double> system(400, 2);
  for (const auto precision : {Precision::automatic, Precision::fp32}) {
    Options o;
    o.precision = precision;
    long failed = 0;
    for (long k = 1; k < 1000; ++k) {
      SCOPED_TRACE(testing::Message() << "attempt " << k);
      fail_allocations(k, 2);  // what fails is tried again once
      try {
        system.solve(o);
        break;
      } catch (const OutOfMemory&) {
        ++failed;
      }
      fail_allocations(0, 0);
      system.solve(o);
      system.expect_solved();
    }
    EXPECT_GE(failed, 3);
  }
}

TEST_F(MadeOnCuda, serves_threads_that_come_and_go) {
  OnDevice<double> system(300, 1);
  system.solve({});
  const Matrix<double> first = download(system.q, system.dX);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> all;
    for (int t = 0; t < 12; ++t)
      all.emplace_back([&] {
        Queue<Cuda> q(0);
        Matrix<double, Cuda> X = upload(q, system.B);
        for (int i = 0; i < 5; ++i) {
          Factorization<double> factors(std::as_const(system.dA).view());
          EXPECT_TRUE(factors.solve(std::as_const(system.dB).view(), X.view()).outcome.ok());
          EXPECT_TRUE(same_bits(download(q, X), first));
        }
      });
    for (auto& thread : all) thread.join();
  }
}

}  // namespace
}  // namespace lasolve::test
