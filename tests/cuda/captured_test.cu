// Factorizations and solves that are captured in a CUDA graph, and launched with new values.
#include <chrono>
#include <optional>
#include <thread>

#include "lasolve/async.hpp"
#include "late.cuh"

namespace lasolve::test {
namespace {

Options named(Method method) {
  Options o;
  o.factorization = method;
  o.check = false;
  return o;
}

/// Of a graph nothing runs on multiprocessors of its own: so nothing does in what its bits are compared with.
Options like_captured(Method method) {
  Options o = named(method);
  o.tuning = tuning_of({Device::cuda, 0});
  o.tuning->lu_panel_multiprocessors = 0;
  return o;
}

class CapturedOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    context.emplace(0, stream);
  }
  void TearDown() override {
    end_graph();
    context.reset();
    for (cudaStream_t its : {stream, other})
      if (its) CUDA_CHECK(cudaStreamDestroy(its));
  }

  template <class Calls>
  void capture(Calls calls, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    end_graph();
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream, mode));
    calls();
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&launched, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }
  /// On another stream than it was captured on.
  void launch_graph() {
    CUDA_CHECK(cudaGraphLaunch(launched, other));
    CUDA_CHECK(cudaStreamSynchronize(other));
  }
  void end_graph() {
    if (launched) CUDA_CHECK(cudaGraphExecDestroy(launched));
    launched = nullptr;
  }

  template <class T>
  void put(Queue<Cuda>& q, const Matrix<T>& from, Matrix<T, Cuda>& to) {
    copy<T>(q, from.view(), to.view());
    q.finish();
  }
  template <class T>
  void expect_bits(Method method, std::int64_t n, Op op = Op::none) {
    const std::int64_t nrhs = 3;
    Queue<Cuda> q(0);
    const Matrix<T> zero = matrix_of<T>(n, nrhs, [](auto, auto) { return 0; });
    Matrix<T, Cuda> A = upload(q, dominant_matrix<T>(n)), B = upload(q, zero), X = upload(q, zero),
                    right = upload(q, zero);
    capture([&] {
      AsyncFactorization<T> factors = factor_async(std::as_const(A).view(), named(method), *context);
      factors.solve_async(std::as_const(B).view(), X.view(), op);
    });
    for (int seed = 1; seed < 4; ++seed) {
      Matrix<T> a = dominant_matrix<T>(n);
      if (method == Method::lu) a = random_matrix<T>(n, n, std::uint64_t(seed));
      for (std::int64_t i = 0; i < n; ++i) a(i, i) += T(seed);
      put(q, a, A), put(q, random_matrix<T>(n, nrhs, std::uint64_t(seed)), B);
      AsyncFactorization<T> factors = factor_async(std::as_const(A).view(), like_captured(method), *context);
      factors.solve_async(std::as_const(B).view(), right.view(), op);
      EXPECT_TRUE(factors.wait().ok());
      for (int launches = 0; launches < 2; ++launches) {
        put(q, zero, X);
        launch_graph();
        EXPECT_TRUE(same_bits(download(q, X), download(q, right))) << n << ", values " << seed;
      }
    }
  }

  cudaStream_t stream = nullptr, other = nullptr;
  cudaGraphExec_t launched = nullptr;
  std::optional<Context> context;
};

TEST_F(CapturedOnCuda, gives_the_bits_that_calls_give_with_new_values_each_time) {
  for (const std::int64_t n : {1, 5, 64, 300, 1000, 2500})
    for (const Method method : {Method::lu, Method::cholesky}) {
      expect_bits<double>(method, n);
      expect_bits<float>(method, n);
    }
  expect_bits<double>(Method::lu, 300, Op::transpose);
  expect_bits<double>(Method::lu, 9000);
}

TEST_F(CapturedOnCuda, tells_where_it_failed_and_leaves_no_solution) {
  const std::int64_t n = 100, bad = 40;
  Queue<Cuda> q(0);
  const Matrix<double> regular = dominant_matrix<double>(n),
                       ones = matrix_of<double>(n, 1, [](auto, auto) { return 1; });
  Matrix<double, Cuda> A = upload(q, regular), B = upload(q, ones), X = upload(q, ones);
  std::optional<AsyncFactorization<double>> factors;
  capture([&] {
    factors.emplace(factor_async(std::as_const(A).view(), named(Method::lu), *context));
    factors->solve_async(std::as_const(B).view(), X.view());
  });
  const auto failed_at = [&] {
    std::int64_t number = 7;
    launch_graph();
    CUDA_CHECK(cudaMemcpy(&number, factors->failed_at(), sizeof number, cudaMemcpyDeviceToHost));
    return number;
  };
  EXPECT_EQ(failed_at(), -1);
  put(q, matrix_of<double>(n, n, [=](auto i, auto j) { return i == j && i < bad ? 2.0 : 0.0; }), A);
  EXPECT_EQ(failed_at(), bad);
  EXPECT_TRUE(std::isnan(download(q, X)(0, 0)));
  put(q, regular, A);
  EXPECT_EQ(failed_at(), -1);
  EXPECT_LT((hpl_residual<double>(regular.view(), ones.view(), download(q, X))), hpl_threshold);
  const auto complaint = [&](auto action) { return complaint_of<std::invalid_argument>(action); };
  EXPECT_TRUE(says(complaint([&] { factors->solve_async(std::as_const(B).view(), X.view()); }), "being captured"));
  EXPECT_TRUE(says(complaint([&] { factors->wait(); }), "captured in a graph"));
}

TEST_F(CapturedOnCuda, takes_factors_that_were_there_and_several_in_a_graph) {
  const std::int64_t n = 700;
  Queue<Cuda> q(0);
  const Matrix<double> a = random_matrix(n, n, 1), b = random_matrix(n, 2, 2);
  Matrix<double, Cuda> A = upload(q, a), B = upload(q, b), X = upload(q, b), Y = upload(q, b);
  AsyncFactorization<double> before = factor_async(std::as_const(A).view(), named(Method::lu), *context);
  capture(
      [&] {
        before.solve_async(std::as_const(B).view(), X.view());
        AsyncFactorization<double> second = factor_async(std::as_const(A).view(), named(Method::lu), *context);
        second.solve_async(std::as_const(X).view(), Y.view());
        before.solve_async(std::as_const(B).view(), X.view());
      },
      cudaStreamCaptureModeThreadLocal);
  EXPECT_TRUE(before.wait().ok());
  put(q, random_matrix(n, 2, 3), B);
  launch_graph();
  const Matrix<double> x = download(q, X), now = download(q, B);
  EXPECT_LT((hpl_residual<double>(a.view(), now.view(), x)), hpl_threshold);
  EXPECT_LT((hpl_residual<double>(a.view(), x.view(), download(q, Y))), hpl_threshold);
  before.solve_async(std::as_const(B).view(), Y.view());
  EXPECT_TRUE(before.wait().ok());
  EXPECT_TRUE(same_bits(download(q, Y), x));
}

TEST_F(CapturedOnCuda, gives_back_its_memory_when_the_graph_ends) {
  const std::int64_t n = 3000;
  Queue<Cuda> q(0);
  Matrix<double, Cuda> A = upload(q, random_matrix(n, n, 1)), B = upload(q, random_matrix(n, 1, 2)),
                       X = upload(q, random_matrix(n, 1, 2));
  const auto make = [&](int graphs) {
    for (int i = 0; i < graphs; ++i) {
      capture([&] {
        factor_async(std::as_const(A).view(), named(Method::lu), *context)
            .solve_async(std::as_const(B).view(), X.view());
      });
      launch_graph();
    }
    end_graph();
  };
  // CUDA tells in a thread of its own that a graph has ended.
  const auto comes_to = [&](std::size_t wanted) {
    std::size_t free = 0, total = 0;
    for (int i = 0; i < 100 && free < wanted; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      release_unused_memory(0);
      CUDA_CHECK(cudaMemGetInfo(&free, &total));
    }
    return free;
  };
  make(2);
  const std::size_t before = comes_to(std::size_t(-1)) - (std::size_t(64) << 20);
  make(4);
  EXPECT_GE(comes_to(before), before);
}

TEST_F(CapturedOnCuda, is_not_for_calls_that_wait) {
  Queue<Cuda> q(0);
  Matrix<double, Cuda> A = upload(q, random_matrix(50, 50, 1));
  capture([&] {
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { Factorization<double>(A.view(), {}, *context); }),
                     "being captured"));
  });
}

TEST_F(CapturedOnCuda, goes_on_when_a_call_is_refused) {
  const std::int64_t n = 50;
  Queue<Cuda> q(0);
  const Matrix<double> a = dominant_matrix<double>(n), b = random_matrix(n, 1, 2);
  Matrix<double, Cuda> A = upload(q, a), B = upload(q, b), X = upload(q, b);
  Options refined = named(Method::lu);
  refined.refine = Refine::classical;
  const auto refused = [](auto action) { EXPECT_FALSE(complaint_of<std::invalid_argument>(action).empty()); };
  capture([&] {
    for (int before_and_behind_others = 0; before_and_behind_others < 2; ++before_and_behind_others) {
      refused([&] { factor_async(std::as_const(A).view(), refined, *context); });
      refused([&] {
        AsyncFactorization<double>::of_factors(std::as_const(A).view(), nullptr, named(Method::lu), *context);
      });
      AsyncFactorization<double> factors = factor_async(std::as_const(A).view(), named(Method::cholesky), *context);
      refused([&] { factors.pivots_async(nullptr); });
      factors.solve_async(std::as_const(B).view(), X.view());
    }
  });
  launch_graph();
  EXPECT_LT((hpl_residual<double>(a.view(), b.view(), download(q, X))), hpl_threshold);
}

TEST_F(CapturedOnCuda, solves_with_factors_that_are_numbers) {
  const std::int64_t n = 500;
  Queue<Cuda> q(0);
  const Matrix<double> a = random_matrix(n, n, 1), b = random_matrix(n, 3, 2);
  Matrix<double, Cuda> A = upload(q, a), B = upload(q, b), X = upload(q, b);
  Matrix<std::int64_t, Cuda> pivots(n, 1);
  AsyncFactorization<double> made(Matrix<double, Cuda>::lent(A), named(Method::lu), *context);
  made.pivots_async(pivots.data());
  for (const Op op : {Op::none, Op::transpose}) {
    auto factors =
        AsyncFactorization<double>::of_factors(std::as_const(A).view(), pivots.data(), named(Method::lu), *context);
    factors.solve_async(std::as_const(B).view(), X.view(), op);
    EXPECT_TRUE(factors.wait().ok());
    const Matrix<double> right = op == Op::none ? matrix_of<double>(n, n, [&](auto i, auto j) { return a(i, j); })
                                                : matrix_of<double>(n, n, [&](auto i, auto j) { return a(j, i); });
    EXPECT_LT((hpl_residual<double>(right.view(), b.view(), download(q, X))), hpl_threshold);
  }
  Matrix<std::int64_t> wrong(n, 1);
  for (std::int64_t k = 0; k < n; ++k) wrong(k, 0) = k == 7 ? n : k;
  put(q, wrong, pivots);
  auto factors =
      AsyncFactorization<double>::of_factors(std::as_const(A).view(), pivots.data(), named(Method::lu), *context);
  factors.solve_async(std::as_const(B).view(), X.view());
  EXPECT_EQ(factors.wait().at, 7);
  EXPECT_TRUE(std::isnan(download(q, X)(0, 0)));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] {
                     AsyncFactorization<double>::of_factors(std::as_const(A).view(), nullptr, named(Method::lu),
                                                            *context);
                   }),
                   "come with the interchanges"));
}

}  // namespace
}  // namespace lasolve::test
