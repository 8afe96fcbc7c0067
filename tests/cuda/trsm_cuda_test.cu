// Triangular solves on CUDA, the kernels themselves.
#include "solvers/devices/cuda/trsm/out_of_place.cuh"
//
#include "holder.cuh"
#include "triangles.hpp"

namespace lasolve::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, TriangularSolve, BothPrecisions<Cuda>);

namespace {

/// More blocks of unknowns than find room at the same time.
TEST(SyncFree, gets_on_with_few_multiprocessors_on_Cuda) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const TriangleForm form{true, false, false, false};
  for (const std::int64_t count : {1, 20}) {
    const std::int64_t n = 5000;
    Queue<Cuda> q(0);
    const Matrix<double, Cuda> A = upload(q, random_triangle<double>(n, form)),
                               B = upload(q, padded_rhs<double>(n, count, form));
    Matrix<double, Cuda> alone = upload(q, padded_rhs<double>(n, count, form)),
                         beside = upload(q, padded_rhs<double>(n, count, form));
    const auto solve = [&](Matrix<double, Cuda>& X) {
      solve_by_sync_free(q, from_the_left(form.of<double, Cuda>(A.view()), X.view()));
      q.finish();
    };
    solve(alone);
    {
      const Holder holder(Holder::all_but(2));
      solve(beside);
      EXPECT_TRUE(holder.holds()) << count << " right-hand sides waited for the other kernel to end";
    }
    EXPECT_TRUE(same_bits(download(q, alone), download(q, beside))) << count;
  }
}

/// The first of two solves reads B where it is, through a permutation, and the second begins while the first ends: bits are those of
/// steps apart.
template <class T>
void expect_as_apart() {
  Queue<Cuda> q(0);
  const Gemm<T, Cuda> gemm(*gemm_backends<Cuda>()[0]);
  const TriangleForm first{true, true, false, false}, second{false, false, false, false};
  for (const std::int64_t n : {60, 129, 256, 700, 3000})
    for (const std::int64_t count : {1, 3, 9, 150}) {
      const Matrix<T, Cuda> L = upload(q, random_triangle<T>(n, first)), U = upload(q, random_triangle<T>(n, second)),
                            B = upload(q, padded_rhs<T>(n, count, first));
      Matrix<std::int64_t> rows(n, 1);
      for (std::int64_t i = 0; i < n; ++i) rows(i, 0) = n - 1 - i;
      const Matrix<std::int64_t, Cuda> rows_there = upload(q, rows);
      Matrix<std::int64_t, Cuda> notes(n, Pivots<Cuda>::columns), failed(1, 1);
      Pivots<Cuda> P = Pivots<Cuda>::in(notes.view(), failed.view());
      P.interchanges.rows = const_cast<std::int64_t*>(rows_there.data());
      for (const bool permutes : {false, true}) {
        Matrix<T, Cuda> apart(n, count), at_once(n, count);
        fill(q, std::numeric_limits<T>::quiet_NaN(), at_once.view());
        const auto lower = first.of<T, Cuda>(L.view());
        auto upper = second.of<T, Cuda>(U.view());
        permutes ? permute_rows<T>(q, B.view(), apart.view(), P, false) : convert<T>(q, B.view(), apart.view());
        trsm_left(q, gemm, lower, apart.view());
        q.finish();
        trsm_left(q, gemm, upper, apart.view());
        trsm_left(q, gemm, lower, B.view(), permutes ? &P : nullptr, at_once.view());
        upper.ready = true;
        trsm_left(q, gemm, upper, at_once.view());
        EXPECT_TRUE(same_bits(download(q, apart), download(q, at_once))) << n << ", " << count << ", " << permutes;
      }
    }
}
TEST(TwoTriangles, solve_as_apart_on_Cuda) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  expect_as_apart<double>();
  expect_as_apart<float>();
}

/// A triangle in fp32 with right-hand sides in fp64: nearly its solution, and 3 B has three times that to the last digits of fp64.
TEST(TriangleInFp32, is_solved_with_in_fp64_on_Cuda) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  for (const TriangleForm form : all_triangle_forms())
    for (const std::int64_t n : {129, 700, 2100})
      for (const std::int64_t count : {1, 3, 8, 20}) {
        if (form.right) continue;
        SCOPED_TRACE(testing::Message() << form << ", n = " << n << ", " << count << " right-hand sides");
        const Matrix<float> stored = random_triangle<float>(n, form);
        const Matrix<double> B = padded_rhs<double>(n, count, form);
        const Matrix<double> wide = matrix_of<double>(n, n, [&](auto i, auto j) { return double(stored(i, j)); });
        const Matrix<double> threefold = matrix_of<double>(n, count, [&](auto i, auto j) { return 3 * B(i, j); });
        const Matrix<float, Cuda> there = upload(q, stored);
        const auto solved = [&](const Matrix<double>& b) {
          Matrix<double, Cuda> X = upload(q, b);
          EXPECT_TRUE(try_solve_as_stored(q, form.of<float, Cuda>(there.view()), X.view()));
          return download(q, X);
        };
        const Matrix<double> X = solved(B), X3 = solved(threefold),
                             of_wide = solved_triangle<double, Cuda>(q, wide, form, B);
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            ASSERT_NEAR(X(i, j), of_wide(i, j), 1e-5) << i << ", " << j;
            ASSERT_NEAR(X3(i, j), 3 * X(i, j), 1e-13) << i << ", " << j;
          }
      }
}

}  // namespace
}  // namespace lasolve::test
