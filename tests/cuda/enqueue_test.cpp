// A factorization is given to a CUDA device without waiting for it: no memory is made and nothing is fetched on the way.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/cuda/check.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// A backend whose first product holds its queue until the last one has been given.
const GemmBackend<Cuda>* real;
std::atomic<int> products, all_products, products_beside;
std::atomic<bool> waited;

void CUDART_CB hold(void*) {
  const auto began = std::chrono::steady_clock::now();
  while (products < all_products && !waited) {
    std::this_thread::yield();
    waited = std::chrono::steady_clock::now() - began > std::chrono::seconds(3);
  }
}

template <class T, bool beside>
void holding(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
             MatrixView<T, Cuda> C) {
  if (products++ == 0 && all_products > 0) CUDA_CHECK(cudaLaunchHostFunc(q.stream(), hold, nullptr));
  products_beside += beside;
  real->in<precision_of<T>>(beside ? Use::beside : Use::alone)(q, alpha, A, B, beta, C);
}
void prepare(const void*, Queue<Cuda>& q, const ProductShape& p) {
  if (real->prepare) real->prepare(real->self, q, p);
}
constexpr GemmBackend<Cuda> holder{
    .name = "holder",
    .summary = "",
    .kernels = {GemmKernel(holding<double, false>, unit_roundoff_of(Precision::fp64), holding<double, true>),
                GemmKernel(holding<float, false>, unit_roundoff_of(Precision::fp32), holding<float, true>)},
    .prepare = prepare};

/// The first factorization loads kernels and counts products, the second is held.
template <class T>
void expect_no_wait(MatrixView<const T, Cuda> A, Options o) {
  o.gemm = &holder;
  o.check = false;
  all_products = 0, waited = false;
  for (int run = 0; run < 2; ++run) {
    products = 0;
    EXPECT_TRUE(Factorization<T>(A, o).report().outcome.ok());
    all_products = products.load();
  }
  EXPECT_GT(products, 1);
  EXPECT_FALSE(waited);
}

template <class T>
void expect_no_wait_in_any_schedule(std::int64_t n, std::int64_t nb) {
  Queue<Cuda> q(0);
  const Matrix<T> R = random_matrix<T>(n, n);
  const auto positive = [&](auto i, auto j) { return i == j ? T(n) : R(std::max(i, j), std::min(i, j)); };
  const Matrix<T, Cuda> A = upload(q, matrix_of<T>(n, n, positive));
  for (const Method method : {Method::lu, Method::cholesky})
    for (const Schedule schedule : schedules) {
      SCOPED_TRACE(testing::Message() << real->name << ", " << sizeof(T) << " bytes, n = " << n << ", nb = " << nb
                                      << ", method " << int(method) << ", schedule " << int(schedule));
      Options o;
      o.factorization = method;
      o.schedule = schedule;
      o.block_size = nb;
      expect_no_wait<T>(A.view(), o);
    }
}

TEST(FactorizationOnCuda, is_enqueued_without_waiting_with_every_backend) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    real = backend;
    for (const std::int64_t nb : {0, 200}) {
      if (backend->in<Precision::fp64>()) expect_no_wait_in_any_schedule<double>(1100, nb);
      if (backend->in<Precision::fp32>()) expect_no_wait_in_any_schedule<float>(1100, nb);
    }
  }
}

/// Where large products take scratch memory.
TEST(FactorizationOnCuda, is_enqueued_without_waiting_where_it_is_large) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (!backend->prepare || !backend->in<Precision::fp32>() ||
        (backend->unavailable && !backend->unavailable(0).empty()))
      continue;
    real = backend;
    products_beside = 0;
    expect_no_wait_in_any_schedule<float>(6000, 0);
    EXPECT_GT(products_beside, 0) << "updates leave room for the panel beside them";
  }
}

}  // namespace
}  // namespace lasolve::test
