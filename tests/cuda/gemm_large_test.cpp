// Products on CUDA of a size at which backends take other ways than in the conformance suite.
#include <cuda_runtime.h>

#include <atomic>
#include <thread>

#include "core/cuda/check.hpp"
#include "lasolve/gemm.hpp"
//
#include "conforming.hpp"
#include "devices.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

/// C ← −op(A)·op(B) + β·C of small integers: no sum is rounded, in whatever order it is made. By all backends, or one.
template <class T, Precision P = precision_of<T>>
void expect_exact_products(Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::int64_t k, Op op = Op::none,
                           const std::string& only = "", Op op_a = Op::none) {
  Random random;
  const auto integers = [&](std::int64_t rows, std::int64_t cols) {
    return matrix_of<T>(rows, cols, [&](auto, auto) { return random.integer(8); });
  };
  const Matrix<T> A = op_a == Op::none ? integers(m, k) : integers(k, m),
                  B = op == Op::none ? integers(k, n) : integers(n, k), C = integers(m, n);
  const Matrix<T> nothing = matrix_of<T>(m, n, [](auto, auto) { return std::numeric_limits<T>::quiet_NaN(); });
  const auto a = as_eigen(A.view()), b = as_eigen(B.view());
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> left = a;
  if (op_a == Op::transpose) left.transposeInPlace();
  const auto product = (op == Op::none ? (left * b).eval() : (left * b.transpose()).eval());
  const auto updated = (as_eigen(C.view()) - product).eval();
  const Matrix<T, Cuda> dA = upload(q, A), dB = upload(q, B);
  const Operand<T, Cuda> opA = op_a == Op::none ? Operand<T, Cuda>(dA.view()) : transposed(dA.view());
  const Operand<T, Cuda> opB = op == Op::none ? Operand<T, Cuda>(dB.view()) : transposed(dB.view());
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    const auto& kernel = backend->in<P>();
    if (!only.empty() && backend->name != only) continue;
    if (!kernel || (backend->unavailable && !backend->unavailable(0).empty())) continue;
    for (const Use use : {Use::alone, Use::beside, Use::lower})
      for (const bool add : {false, true}) {
        if ((use == Use::beside && !kernel.beside) || (use == Use::lower && (!kernel.lower || m != n))) continue;
        Matrix<T, Cuda> dC = upload(q, add ? C : nothing);
        backend->in<P>(use)(q, T(-1), opA, opB, T(add), dC.view());
        Matrix<T> result = download(q, dC);
        const auto& right = add ? updated : (-product).eval();
        for (std::int64_t j = 0; use == Use::lower && j < n; ++j)
          for (std::int64_t i = 0; i < j; ++i) result(i, j) = right(i, j);
        EXPECT_TRUE(as_eigen(result.view()) == right) << backend->name << ", beta " << add << ", use " << int(use);
      }
  }
}

TEST(GemmOnCuda, is_exact_in_large_products_of_odd_sides) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  expect_exact_products<double>(q, 1601, 1603, 1605);
  expect_exact_products<double>(q, 1602, 1603, 1606);  // columns at multiples of 16 bytes
  expect_exact_products<float>(q, 1601, 1603, 1605);
  for (const Op op : ops)
    for (const std::int64_t m : {702, 703, 1503}) expect_exact_products<double>(q, m, 603, 300, op);
  for (const Op op : ops)
    for (const std::int64_t m : {1601, 3102})
      expect_exact_products<double>(q, m, 2903, 1030, op, "tensor", Op::transpose);
  expect_exact_products<double>(q, 3102, 2903, 1030);
  expect_exact_products<double>(q, 3102, 2903, 1030, Op::transpose);
}

/// Of a triangle of C: several groups of tiles, sides that are no whole tiles, and k in parts.
TEST(GemmOnCuda, is_exact_in_products_of_which_a_triangle_is_wanted) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const Op op : ops)
    for (const auto& [n, k] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {127, 40}, {128, 64}, {129, 33}, {700, 300}, {2052, 129}, {4099, 65}, {300, 8200}})
      expect_exact_products<float>(q, n, n, k, op, "tensor_split");
}

/// A·Aᵀ, of which the operand is packed once. What is beside C stays.
TEST(GemmOnCuda, updates_a_triangle_of_a_symmetric_matrix) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    const auto kernel = backend->in<Precision::fp32>(Use::lower);
    if (!kernel.lower || !backend->unavailable(0).empty()) continue;
    for (const std::int64_t n : {1, 65, 130, 1537}) {
      SCOPED_TRACE(testing::Message() << backend->name << ", n = " << n);
      constexpr std::int64_t k = 97, frame = 3;
      Random random;
      const auto integers = [&](auto, auto) { return random.integer(8); };
      const auto A = matrix_of<float>(n, k, integers), C = matrix_of<float>(n + frame, n + frame, integers);
      const Matrix<float, Cuda> dA = upload(q, A);
      Matrix<float, Cuda> dC = upload(q, C);
      kernel(q, -1, dA.view(), transposed(dA.view()), 1, dC.view().block(0, 0, n, n));
      const Matrix<float> result = download(q, dC);
      const auto a = as_eigen(A.view());
      auto right = as_eigen(C.view()).eval();
      right.topLeftCorner(n, n) -= a * a.transpose();
      for (std::int64_t j = 0; j < n + frame; ++j)
        for (std::int64_t i = 0; i < n + frame; ++i)
          if (i >= j || i >= n || j >= n) {
            ASSERT_EQ(result(i, j), right(i, j)) << i << ", " << j;
          }
    }
  }
}

/// The tiles of `tensor` that are too large for the products of the conformance suite.
TEST(GemmOnCuda, conforms_where_tiles_are_larger) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
    if (std::string(backend->name) != "tensor" || !backend->unavailable(0).empty()) continue;
    std::vector<bench::Case> cases;
    for (const Op op_a : ops)
      for (const Op op_b : ops)
        for (bench::Case c : {bench::Case{703, 603, 70, op_a, op_b}, bench::Case{1503, 1403, 40, op_a, op_b}}) {
          c.beta = -0.5, c.a = c.b = c.c = bench::Layout::even;
          cases.push_back(c);
        }
    expect_right(q, backend->in<Precision::fp64>(), cases);
  }
}

/// `tensor` has tiles of three widths; A comes as it lies, or packed where its columns are not at multiples of 16 bytes.
TEST(GemmOnCuda, is_exact_in_tf32) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const std::int64_t m : {772, 771})
    for (const std::int64_t k : {260, 4100})
      for (const Op op : {Op::none, Op::transpose}) expect_exact_products<float, Precision::tf32>(q, m, 515, k, op);
  expect_exact_products<float, Precision::tf32>(q, 1500, 1497, 300);
}

/// As in the bulk of a Cholesky, alone and beside others.
TEST(GemmOnCuda, is_exact_in_large_products_of_few_columns) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  expect_exact_products<double>(q, 1030, 250, 4350);
  for (Queue<Cuda>* either : {&q, &q.beside()}) {
    expect_exact_products<double>(*either, 2301, 256, 2600, Op::transpose);
    expect_exact_products<float>(*either, 2301, 256, 2600, Op::transpose);
    for (const auto& [m, n, k] : {std::tuple{1027, 256, 1024}, {2048, 256, 1792}, {518, 384, 2048}})  // in parts of k
      expect_exact_products<float>(*either, m, n, k, Op::transpose);
  }
}

/// A queue that waits at its end for go(), so that what is enqueued meanwhile follows without a gap.
class Held {
 public:
  explicit Held(Queue<Cuda>& q) { CUDA_CHECK(cudaLaunchHostFunc(q.stream(), wait, &gone_)); }
  void go() { gone_ = true; }

 private:
  static void CUDART_CB wait(void* gone) {
    while (!*static_cast<std::atomic<bool>*>(gone)) std::this_thread::yield();
  }
  std::atomic<bool> gone_ = false;
};

/// Of each row, `shift` elements are to be further right than in X, and what falls out to come back on the left.
void expect_moved(MatrixView<const double> Y, MatrixView<const double> X, std::int64_t shift) {
  const auto y = as_eigen(Y), x = as_eigen(X);
  EXPECT_TRUE(y.rightCols(x.cols() - shift) == x.leftCols(x.cols() - shift) && y.leftCols(shift) == x.rightCols(shift));
}

/// X ← X·P, again and again, where P moves column j to column j + 1, and for the first rows twice more in between: large and short
/// products, each of which needs the one before it. Kernels may be on the device before the one before them ends.
TEST(GemmOnCuda, waits_for_the_product_before_it) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  constexpr std::int64_t times = 8, top = 102;
  Queue<Cuda> q(0);
  for (const auto& [m, n] : {std::pair{202, 130}, {602, 500}, {2402, 1301}}) {
    const Matrix<double> X = random_matrix(m, n, 1);
    const std::int64_t cols = n;
    const Matrix<double, Cuda> P =
        upload(q, matrix_of<double>(n, n, [=](auto i, auto j) { return (i + 1) % cols == j; }));
    for (const GemmBackend<Cuda>* backend : gemm_backends<Cuda>()) {
      if (!backend->in<Precision::fp64>() || (backend->unavailable && !backend->unavailable(0).empty())) continue;
      SCOPED_TRACE(testing::Message() << backend->name << ", " << m << " x " << n);
      Matrix<double, Cuda> now = upload(q, X), next(m, n), first(top, n);
      const auto move = [&](MatrixView<const double, Cuda> from, MatrixView<double, Cuda> to) {
        backend->in<Precision::fp64>()(q, 1, from, P.view(), 0, to);
      };
      move(now.view(), next.view());  // may make room
      Held held(q);
      for (std::int64_t t = 0; t < times; ++t, std::swap(now, next)) {
        move(now.view(), next.view());
        move(next.view().block(0, 0, top, n), first.view());
        move(first.view(), next.view().block(0, 0, top, n));
      }
      held.go();
      const Matrix<double> moved = download(q, now);
      expect_moved(moved.view().block(0, 0, top, n), X.view().block(0, 0, top, n), 3 * times);
      expect_moved(moved.view().block(top, 0, m - top, n), X.view().block(top, 0, m - top, n), times);
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
  for (const std::int64_t m : {103, 384}) expect_exact_products<double>(q, m, 255, 2100, Op::none, "tensor");
}

/// As in the bulk of an LU, alone and beside others; in the second case B is too large to be transposed at once.
TEST(GemmOnCuda, is_exact_in_large_products_of_many_columns) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  expect_exact_products<float>(q, 4099, 1029, 517);
  expect_exact_products<float>(q, 4096, 4101, 8192);
}

}  // namespace
}  // namespace lasolve::test
