// Contexts: the order of a caller's stream, and threads that share them or not.
#include <atomic>
#include <optional>
#include <thread>

#include "lasolve/context.hpp"
#include "late.cuh"

namespace lasolve::test {
namespace {

class ContextOnCuda : public testing::Test {
 protected:
  static constexpr std::int64_t n = LateWork::n, nrhs = LateWork::nrhs;

  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    q.emplace(0);
    dA = upload(*q, A), dB = upload(*q, B), dX = upload(*q, B);
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  void TearDown() override {
    if (stream) CUDA_CHECK(cudaStreamDestroy(stream));
  }
  MatrixView<const double, Cuda> a() const { return dA.view(); }
  MatrixView<const double, Cuda> b() const { return dB.view(); }
  void expect_answer(const Matrix<double, Cuda>& X) {
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(*q, X))), hpl_threshold);
  }

  const Matrix<double> A = random_matrix(n, n, 1), B = random_matrix(n, nrhs, 2);  // those of LateWork
  std::optional<Queue<Cuda>> q;
  Matrix<double, Cuda> dA, dB, dX;
  cudaStream_t stream = nullptr;
};

TEST_F(ContextOnCuda, sees_what_its_stream_is_still_writing) {
  LateWork late(stream);
  Context context(0, stream);
  late.expect_A_is_waited_for(
      [&](auto& lateA) { return Factorization<double>(std::as_const(lateA).view(), {}, context); });
  late.expect_A_is_waited_for([&](auto& lateA) { return Factorization<double>(std::move(lateA), {}, context); });
  Factorization<double> factors(a(), {}, context);
  const auto solve = [&](Factorization<double>&, DeviceB lateB, DeviceX X) {
    EXPECT_TRUE(factors.solve(lateB, X).outcome.ok());
  };
  late.expect_B_is_waited_for(solve);
  late.expect_X_is_left_alone(solve);
}

TEST_F(ContextOnCuda, has_its_results_there_for_what_its_stream_is_given_next) {
  Context context(0, stream);
  Factorization<double> factors(a(), {}, context);
  Matrix<double, Cuda> kept = upload(*q, A);
  for (int i = 0; i < 20; ++i) {
    CUDA_CHECK(cudaMemsetAsync(dX.data(), 0xff, dX.bytes(), stream));
    EXPECT_TRUE(factors.solve(b(), dX.view()).outcome.ok());
    CUDA_CHECK(cudaMemcpyAsync(kept.data(), dX.data(), dX.bytes(), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemsetAsync(dX.data(), 0, dX.bytes(), stream));
  }
  CUDA_CHECK(cudaMemcpyAsync(dX.data(), kept.data(), dX.bytes(), cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  expect_answer(dX);
}

TEST_F(ContextOnCuda, does_not_wait_for_the_default_stream_unless_that_is_named) {
  LateWork late(nullptr);
  Context context(0, stream);
  Factorization<double> factors(a(), {}, context);
  cudaStream_t other = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  {
    LateWork elsewhere(other);
    elsewhere.expect_B_is_waited_for([&](Factorization<double>&, DeviceB lateB, DeviceX X) {
      EXPECT_TRUE(factors.solve(lateB, X, Op::none, other).outcome.ok());
    });
  }
  CUDA_CHECK(cudaStreamDestroy(other));
  Matrix<double, Cuda> X = upload(*q, B);
  EXPECT_TRUE(factors.solve(b(), X.view()).outcome.ok());
  CUDA_CHECK(cudaDeviceSynchronize());
  copy_late<<<1, 256>>>(dX.data(), dX.data(), 1, 20 * late_by);
  EXPECT_TRUE(factors.solve(b(), X.view()).outcome.ok());
  EXPECT_TRUE(is_busy(nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_answer(X);
}

TEST_F(ContextOnCuda, takes_memory_of_a_pool_of_the_callers) {
  void *pooled_A = nullptr, *pooled_B = nullptr;
  CUDA_CHECK(cudaMallocAsync(&pooled_A, dA.bytes(), stream));
  CUDA_CHECK(cudaMallocAsync(&pooled_B, dB.bytes(), stream));
  CUDA_CHECK(cudaMemcpyAsync(pooled_A, dA.data(), dA.bytes(), cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaMemcpyAsync(pooled_B, dB.data(), dB.bytes(), cudaMemcpyDeviceToDevice, stream));
  {
    Context context(0, stream);
    Factorization<double> factors(MatrixView<const double, Cuda>(static_cast<double*>(pooled_A), n, n, dA.ld()), {},
                                  context);
    const MatrixView<double, Cuda> both(static_cast<double*>(pooled_B), n, nrhs, dB.ld());
    EXPECT_TRUE(factors.solve(both, both).outcome.ok());
    CUDA_CHECK(cudaMemcpyAsync(dX.data(), pooled_B, dX.bytes(), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaFreeAsync(pooled_B, stream));
    CUDA_CHECK(cudaFreeAsync(pooled_A, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  expect_answer(dX);
}

TEST_F(ContextOnCuda, solves_what_is_on_the_host) {
  Context context(0, stream);
  Matrix<double> X(n, nrhs);
  Factorization<double> factors(A.view(), {}, context);
  EXPECT_EQ(factors.report().device, "cuda:0");
  EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
}

TEST_F(ContextOnCuda, stays_until_its_factorizations_end) {
  std::optional<Context> context(std::in_place, 0);
  Factorization<double> first(a(), {}, *context), second(A.view(), {}, *context);
  context.reset();
  EXPECT_TRUE(first.solve(b(), dX.view()).outcome.ok());
  expect_answer(dX);
  EXPECT_TRUE(second.solve(b(), dX.view()).outcome.ok());
  expect_answer(dX);
}

TEST_F(ContextOnCuda, has_a_tuning_for_factorizations_that_have_none) {
  Context context(0);
  Tuning own = context.tuning();
  EXPECT_EQ(own.arriving_bytes, tuning_of({Device::cuda, 0}).arriving_bytes);
  own.arriving_bytes = 12345;
  context.tune(own);
  EXPECT_EQ(context.tuning().arriving_bytes, 12345);
  Options o;
  o.tuning = tuning_of({Device::cuda, 0});
  Factorization<double> with_its_own(a(), o, context), with_that(a(), {}, context);
  EXPECT_TRUE(with_its_own.solve(b(), dX.view()).outcome.ok());
  expect_answer(dX);
  EXPECT_EQ(context.tuning().arriving_bytes, 12345);
}

TEST_F(ContextOnCuda, refuses_what_would_wait_for_itself_and_what_is_elsewhere) {
  const auto complaint = [](auto action) { return complaint_of<std::invalid_argument>(action); };
  Context context(0, stream);
  Factorization<double> factors(a(), {}, context);
  Options calls_again;
  calls_again.progress = [&](double) { factors.solve(b(), dX.view()); };
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(a(), calls_again, context); }), "from within another"));
  EXPECT_TRUE(factors.solve(b(), dX.view()).outcome.ok());
  expect_answer(dX);

  Options elsewhere;
  elsewhere.device = {Device::cpu, 0};
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(a(), elsewhere, context); }), "the context is on cuda:0"));
  elsewhere.device = {Device::cuda, 1};
  EXPECT_TRUE(
      says(complaint([&] { Factorization<double>(A.view(), elsewhere, context); }), "the context is on cuda:0"));
  EXPECT_THROW(Context(99), MachineError);

  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_TRUE(says(complaint([&] { factors.solve(b(), dX.view()); }), "being captured"));
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphDestroy(graph));
  EXPECT_TRUE(factors.solve(b(), dX.view()).outcome.ok());
}

constexpr int threads = 8, calls = 25;

template <class Work>
void on_threads(Work work) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([=] { work(t); });
  for (auto& thread : all) thread.join();
}

/// Each thread solves systems of its own, of different sizes, with the context that it is given.
template <class ContextOf>
void expect_answers_on_threads(ContextOf context_of) {
  on_threads([&](int t) {
    Queue<Cuda> q(0);
    const std::int64_t n = 100 + 37 * t;
    const Matrix<double> A = random_matrix(n, n, std::uint64_t(t) + 1), B = random_matrix(n, 2, 3);
    const Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, B);
    Matrix<double, Cuda> X = upload(q, B);
    for (int i = 0; i < calls; ++i) {
      Factorization<double> factors(dA.view(), {}, context_of(t));
      EXPECT_TRUE(factors.solve(dB.view(), X.view()).outcome.ok());
      EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(q, X))), hpl_threshold);
    }
  });
}

TEST_F(ContextOnCuda, is_shared_by_threads) {
  const Context shared(0);
  expect_answers_on_threads([&](int) { return shared; });
  const Context in_order(0, stream);
  expect_answers_on_threads([&](int) { return in_order; });
}

TEST_F(ContextOnCuda, is_one_of_each_thread) {
  std::vector<Context> own;
  for (int t = 0; t < threads; ++t) own.emplace_back(0);
  expect_answers_on_threads([&](int t) { return own[std::size_t(t)]; });
}

/// Also without a context that is named.
TEST_F(ContextOnCuda, lets_threads_solve_with_one_factorization) {
  Factorization<double> factors(a());
  on_threads([&](int) {
    Queue<Cuda> own(0);
    Matrix<double, Cuda> X = upload(own, B);
    for (int i = 0; i < calls; ++i) {
      EXPECT_TRUE(factors.solve(b(), X.view()).outcome.ok());
      EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(own, X))), hpl_threshold);
    }
  });
}

TEST_F(ContextOnCuda, gives_back_what_is_not_used) {
  Factorization<double>(a()).solve(b(), dX.view());
  release_unused_memory(0);
  Factorization<double>(a()).solve(b(), dX.view());
  expect_answer(dX);
}

}  // namespace
}  // namespace lasolve::test
