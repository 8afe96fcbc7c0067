// Factorizations and solves that return before their work is done.
#include <optional>
#include <thread>

#include "core/cuda/count_for_tests.hpp"
#include "lasolve/async.hpp"
#include "late.cuh"

namespace lasolve::test {
namespace {

Options decided(Method method) {
  Options o;
  o.factorization = method;
  o.check = false;
  return o;
}

template <class T>
MatrixView<const T, Cuda> read(const Matrix<T, Cuda>& X) {
  return X.view();
}

/// A system on the device. A is symmetric and positive definite.
template <class T>
struct System {
  System(std::int64_t n, std::int64_t nrhs) : A(dominant_matrix<T>(n)), B(random_matrix<T>(n, nrhs, 2)) {
    dA = upload(q, A), dB = upload(q, B), dX = upload(q, B);
  }
  void expect_answer(const Matrix<T, Cuda>& X) {
    EXPECT_LT((hpl_residual<T>(A.view(), B.view(), download(q, X))), hpl_threshold);
  }

  Queue<Cuda> q{0};
  const Matrix<T> A, B;
  Matrix<T, Cuda> dA, dB, dX;
};

class AsyncOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    context.emplace(0, stream);
  }
  void TearDown() override {
    context.reset();
    if (stream) CUDA_CHECK(cudaStreamDestroy(stream));
  }
  void wait_for_stream() { CUDA_CHECK(cudaStreamSynchronize(stream)); }

  template <class T>
  void copy(Matrix<T, Cuda>& to, const Matrix<T, Cuda>& from) {
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  template <class T>
  void spoil(Matrix<T, Cuda>& X) {
    CUDA_CHECK(cudaMemsetAsync(X.data(), 0xff, X.bytes(), stream));
  }
  /// A and B come late, and are spoiled when they have been used; so is X, when it has been copied.
  void expect_order(Method method, std::int64_t n) {
    System<double> s(n, 3);
    Matrix<double, Cuda> A = upload(s.q, s.A), B = upload(s.q, s.B), kept = upload(s.q, s.B);
    const auto all = [&] {
      AsyncFactorization<double> factors = factor_async(read(A), decided(method), *context);
      spoil(A);
      factors.solve_async(B.view(), s.dX.view());
      spoil(B);
      copy(kept, s.dX);
      spoil(s.dX);
    };
    all();  // has its kernels loaded and its memory made
    wait_for_stream();
    spoil(A), spoil(B);
    wait_for_stream();
    copy_late<<<1, 256, 0, stream>>>(A.data(), s.dA.data(), A.ld() * A.cols(), late_by);
    copy(B, s.dB);
    all();
    EXPECT_TRUE(is_busy(stream)) << "a call has waited";
    wait_for_stream();
    s.expect_answer(kept);
  }
  template <class T>
  void expect_same_bits(Method method, std::int64_t n, Op op = Op::none) {
    System<T> s(n, 2);
    Matrix<T, Cuda> X = upload(s.q, s.B);
    AsyncFactorization<T> factors = factor_async(s.dA, decided(method), *context);
    factors.solve_async(s.dB.view(), X.view(), op);
    EXPECT_TRUE(factors.wait().ok());
    Options without_small = decided(method);  // small systems that are waited for have kernels of their own
    without_small.tuning = tuning_of({Device::cuda, 0});
    without_small.tuning->small_system_order = 0;
    Factorization<T> usual(s.dA.view(), without_small, *context);
    EXPECT_TRUE(usual.solve(s.dB.view(), s.dX.view(), op).outcome.ok());
    EXPECT_TRUE(same_bits(download(s.q, X), download(s.q, s.dX))) << n;
  }

  cudaStream_t stream = nullptr;
  std::optional<Context> context;
};

TEST_F(AsyncOnCuda, returns_before_the_work_is_done_which_is_in_the_order_of_the_stream) {
  for (const std::int64_t n : {300, 1500}) {
    expect_order(Method::lu, n);
    expect_order(Method::cholesky, n);
  }
}

TEST_F(AsyncOnCuda, gives_the_bits_that_calls_give_which_wait) {
  for (const std::int64_t n : {0, 1, 5, 64, 300, 1000})
    for (const Method method : {Method::lu, Method::cholesky}) {
      expect_same_bits<double>(method, n);
      expect_same_bits<float>(method, n);
    }
  expect_same_bits<double>(Method::lu, 300, Op::transpose);
}

TEST_F(AsyncOnCuda, factors_in_place_and_solves_in_place) {
  System<double> s(200, 2);
  AsyncFactorization<double> factors(std::move(s.dA), decided(Method::lu), *context);
  copy(s.dX, s.dB);
  factors.solve_async(read(s.dX), s.dX.view());
  EXPECT_TRUE(factors.wait().ok());
  s.expect_answer(s.dX);
}

TEST_F(AsyncOnCuda, tells_the_device_and_the_host_where_it_failed) {
  Queue<Cuda> q(0);
  const std::int64_t n = 100, bad = 40;
  const auto expect_failure = [&](Method method, Outcome::Kind kind, std::int64_t at) {
    // Zero from a column on: singular there, and a leading minor is not positive.
    const auto A = upload(q, matrix_of<double>(n, n, [=](auto i, auto j) { return i == j && i < bad ? 2.0 : 0.0; }));
    Matrix<std::int64_t, Cuda> told(1, 1);
    Matrix<double, Cuda> X = upload(q, matrix_of<double>(n, 3, [](auto, auto) { return 1.0; }));
    std::int64_t number = 0;
    AsyncFactorization<double> factors = factor_async(read(A), decided(method), *context);
    factors.solve_async(read(X), X.view());
    CUDA_CHECK(cudaMemcpyAsync(told.data(), factors.failed_at(), sizeof number, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(&number, told.data(), sizeof number, cudaMemcpyDeviceToHost, stream));
    wait_for_stream();
    EXPECT_EQ(number, at);
    const Outcome outcome = factors.wait();
    EXPECT_EQ(outcome.kind, kind);
    EXPECT_EQ(outcome.at, at);
    const Matrix<double> none = download(q, X);
    for (std::int64_t j = 0; j < none.cols(); ++j)
      for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(none(i, j)));
  };
  expect_failure(Method::lu, Outcome::singular, bad);
  expect_failure(Method::cholesky, Outcome::not_positive_definite, bad + 1);
}

TEST_F(AsyncOnCuda, may_end_before_its_work_does) {
  System<double> s(500, 1);
  for (int i = 0; i < 10; ++i) {
    spoil(s.dX);
    factor_async(read(s.dA), decided(i % 2 ? Method::lu : Method::cholesky), *context)
        .solve_async(s.dB.view(), s.dX.view());
    const AsyncFactorization<double> another = factor_async(read(s.dA), decided(Method::lu), *context);  // takes memory
  }
  wait_for_stream();
  s.expect_answer(s.dX);
}

TEST_F(AsyncOnCuda, shares_a_context_with_calls_that_wait) {
  System<double> s(400, 1), t(256, 2);
  AsyncFactorization<double> factors = factor_async(read(s.dA), decided(Method::lu), *context);
  Factorization<double> usual(t.dA.view(), {}, *context);
  factors.solve_async(s.dB.view(), s.dX.view());
  const Report report = usual.solve(t.dB.view(), t.dX.view());
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_GT(report.solve_seconds, 0);
  wait_for_stream();
  s.expect_answer(s.dX), t.expect_answer(t.dX);
}

TEST_F(AsyncOnCuda, makes_nothing_in_a_second_call) {
  if (!made_until_now()) GTEST_SKIP() << "a build with LASOLVE_TEST_HOOKS counts";
  System<double> s(700, 1);
  const auto call = [&] {
    AsyncFactorization<double> factors = factor_async(read(s.dA), decided(Method::lu), *context);
    factors.solve_async(s.dB.view(), s.dX.view());
  };
  call();
  wait_for_stream();
  const long made = *made_until_now();
  for (int i = 0; i < 3; ++i) call();
  EXPECT_EQ(*made_until_now(), made);
  wait_for_stream();
  s.expect_answer(s.dX);
}

TEST_F(AsyncOnCuda, works_in_streams_of_several_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      cudaStream_t own = nullptr;
      CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
      {
        System<double> s(200 + 50 * t, 1);
        const Context context(0, own);
        for (int i = 0; i < 20; ++i) {
          AsyncFactorization<double> factors = factor_async(read(s.dA), decided(Method::lu), context);
          factors.solve_async(s.dB.view(), s.dX.view());
        }
        CUDA_CHECK(cudaStreamSynchronize(own));
        s.expect_answer(s.dX);
      }
      CUDA_CHECK(cudaStreamDestroy(own));
    });
  for (auto& thread : threads) thread.join();
}

TEST_F(AsyncOnCuda, refuses_what_is_decided_on_the_host) {
  System<double> s(10, 1);
  const auto complaint = [&](auto change, const Context& in) {
    Options o = decided(Method::lu);
    change(o);
    return complaint_of<std::invalid_argument>([&] { factor_async(read(s.dA), o, in); });
  };
  const auto expect = [&](auto change, const char* text) { EXPECT_TRUE(says(complaint(change, *context), text)); };
  expect([](Options& o) { o.factorization = Method::automatic; }, "have to name the method");
  expect([](Options& o) { o.check = true; }, "cannot check");
  expect([](Options& o) { o.condition = true; }, "cannot estimate the condition");
  expect([](Options& o) { o.refine = Refine::classical; }, "cannot refine");
  expect([](Options& o) { o.precision = Precision::fp32; }, "cannot refine");
  expect([](Options& o) { o.precision = Precision::fp32, o.refine = Refine::none; }, "in the type of A");
  expect([](Options& o) { o.progress = [](double) {}; }, "progress");
  expect([](Options& o) { o.block_size = -1; }, "the block size is negative");
  EXPECT_TRUE(says(complaint([](Options&) {}, Context(0)), "the context has none"));
  AsyncFactorization<double> factors = factor_async(read(s.dA), decided(Method::lu), *context);
  const System<double> other(11, 1);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve_async(other.dB.view(), s.dX.view()); }),
                   "have the wrong size"));
  const AsyncFactorization<double> moved = std::move(factors);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.wait(); }), "moved from"));
}

}  // namespace
}  // namespace lasolve::test
