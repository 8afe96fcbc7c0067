// Products on CUDA of a size at which backends take other ways than in the conformance suite.
#include "lasolve/gemm.hpp"
//
#include "matrices.hpp"
#include "places.hpp"

namespace lasolve::test {
namespace {

/// C ← −A·op(B) + β·C of small integers: no sum is rounded, in whatever order it is made. By all backends, or one.
template <class T>
void expect_exact_products(Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::int64_t k, Op op = Op::none,
                           const std::string& only = "") {
  Random random;
  const auto integers = [&](std::int64_t rows, std::int64_t cols) {
    return matrix_of<T>(rows, cols, [&](auto, auto) { return random.integer(8); });
  };
  const Matrix<T> A = integers(m, k), B = op == Op::none ? integers(k, n) : integers(n, k), C = integers(m, n);
  const Matrix<T> nothing = matrix_of<T>(m, n, [](auto, auto) { return std::numeric_limits<T>::quiet_NaN(); });
  const auto a = as_eigen(A.view()), b = as_eigen(B.view());
  const auto product = (op == Op::none ? (a * b).eval() : (a * b.transpose()).eval());
  const auto updated = (as_eigen(C.view()) - product).eval();
  const Matrix<T, Cuda> dA = upload(q, A), dB = upload(q, B);
  const Operand<T, Cuda> opB = op == Op::none ? Operand<T, Cuda>(dB.view()) : transposed(dB.view());
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    const auto& kernel = backend->in<precision_of<T>>();
    if (!only.empty() && backend->name != only) continue;
    if (!kernel || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    for (const bool add : {false, true}) {
      Matrix<T, Cuda> dC = upload(q, add ? C : nothing);
      kernel(q, T(-1), dA.view(), opB, T(add), dC.view());
      const Matrix<T> result = download(q, dC);
      EXPECT_TRUE(as_eigen(result.view()) == (add ? updated : -product)) << backend->name << ", beta " << add;
    }
  }
}

TEST(GemmOnCuda, is_exact_in_large_products_of_odd_sides) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  expect_exact_products<double>(q, 1601, 1603, 1605);
  expect_exact_products<double>(q, 1602, 1603, 1606);  // columns at multiples of 16 bytes
  expect_exact_products<float>(q, 1601, 1603, 1605);
  for (const Op op : {Op::none, Op::transpose}) {
    expect_exact_products<double>(q, 702, 603, 300, op);
    expect_exact_products<double>(q, 1502, 1403, 300, op);
  }
  expect_exact_products<double>(q, 3102, 2903, 1030);
  expect_exact_products<double>(q, 3102, 2903, 1030, Op::transpose);
}

/// As in the bulk of a Cholesky, alone and where others go first.
TEST(GemmOnCuda, is_exact_in_large_products_of_few_columns) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  EXPECT_FALSE(q.beside().others_go_first());
  expect_exact_products<float>(q, 2301, 256, 2600, Op::transpose);
  expect_exact_products<double>(q, 1030, 250, 4350);
  q.ahead();
  for (Queue<Cuda>* either : {&q, &q.beside()}) {
    EXPECT_TRUE(either->others_go_first());
    expect_exact_products<double>(*either, 2301, 256, 2600, Op::transpose);
    expect_exact_products<float>(*either, 2301, 256, 2600, Op::transpose);
    for (const auto& [m, n, k] : {std::tuple{1027, 256, 1024}, {2048, 256, 1792}, {518, 384, 2048}})  // in parts of k
      expect_exact_products<float>(*either, m, n, k, Op::transpose);
  }
  q.ahead().ahead();
  EXPECT_FALSE(q.ahead().others_go_first());
}

/// X ← X·P, again and again, where P moves column j to column j + 1. Kernels may be on the device before the one before them ends.
TEST(GemmOnCuda, waits_for_the_product_before_it) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  constexpr std::int64_t times = 24;
  Queue<Cuda> q(0);
  for (const auto& [m, n] : {std::pair{202, 130}, {602, 500}, {1502, 1301}}) {
    const Matrix<double> X = random_matrix(m, n, 1);
    const std::int64_t cols = n;
    const Matrix<double, Cuda> P =
        upload(q, matrix_of<double>(n, n, [=](auto i, auto j) { return (i + 1) % cols == j; }));
    for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
      if (!backend->f64 || (backend->unavailable && !backend->unavailable(0).empty())) continue;
      Matrix<double, Cuda> now = upload(q, X), next(m, n);
      for (std::int64_t t = 0; t < times; ++t, std::swap(now, next))
        backend->f64(q, 1, now.view(), P.view(), 0, next.view());
      const Matrix<double> moved = download(q, now);
      EXPECT_TRUE(as_eigen(moved.view()).rightCols(n - times) == as_eigen(X.view()).leftCols(n - times))
          << backend->name;
      EXPECT_TRUE(as_eigen(moved.view()).leftCols(times) == as_eigen(X.view()).rightCols(times)) << backend->name;
    }
  }
}

/// Few tiles and many steps: on an H200 eight blocks share the steps of a tile, in the other test two and four.
TEST(GemmOnCuda, is_exact_where_eight_blocks_share_the_steps_of_a_tile) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  expect_exact_products<double>(q, 1000, 250, 4350, Op::transpose, "tensor");
}
TEST(GemmOnCuda, is_exact_where_blocks_share_the_steps_of_a_tile) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const std::int64_t m : {4102, 1030}) expect_exact_products<double>(q, m, 250, 4350, Op::transpose, "tensor");
  expect_exact_products<double>(q, 1031, 250, 4350, Op::transpose, "tensor");  // columns at odd multiples of 8 bytes
  expect_exact_products<double>(q, 1031, 250, 4351, Op::none, "tensor");
}

/// As in the bulk of an LU, where others go first; in the second case B is too large to be transposed at once.
TEST(GemmOnCuda, is_exact_in_large_products_of_many_columns) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  q.ahead();
  expect_exact_products<float>(q, 4099, 1029, 517);
  expect_exact_products<float>(q, 4096, 4101, 8192);
}

}  // namespace
}  // namespace lasolve::test
