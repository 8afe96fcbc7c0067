// Triangular solves on CUDA, the kernels themselves.
#include "solvers/places/cuda/trsm/triangle.cuh"
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
                               B = upload(q, padded_sides<double>(n, count, form));
    Matrix<double, Cuda> alone = upload(q, padded_sides<double>(n, count, form)),
                         beside = upload(q, padded_sides<double>(n, count, form));
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

}  // namespace
}  // namespace lasolve::test
