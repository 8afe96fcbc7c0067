// Systems on a device, and what came of them.
#pragma once

#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {

inline Options on_cuda() {
  Options o;
  o.device = {Device::cuda, 0};
  return o;
}

/// What came of a system whose matrices are on the device.
template <class T>
struct Answer {
  Report factored, solved;
  Matrix<T> X;
  std::string thrown;
  double rcond = -1;
};
template <class T>
Answer<T> answer(const Matrix<T>& A, const Matrix<T>& B, const Options& o, Op op = Op::none, bool over_B = false,
                 bool with_rcond = false) {
  Answer<T> all;
  Queue<Cuda> q(0);
  const Matrix<T, Cuda> dA = upload(q, A);
  Matrix<T, Cuda> dB = upload(q, B), dX = upload(q, matrix_of<T>(B.rows(), B.cols(), [](auto, auto) { return 7; }));
  try {
    Factorization<T> factors(dA.view(), o);
    all.factored = factors.report();
    all.solved = factors.solve(std::as_const(dB).view(), over_B ? dB.view() : dX.view(), op);
    if (with_rcond) all.rcond = factors.rcond();
  } catch (const std::invalid_argument& e) {
    all.thrown = e.what();
  }
  all.X = download(q, over_B ? dB : dX);
  if (!over_B) {
    EXPECT_TRUE(same_bits(download(q, dB), B) || all.thrown.size() > 0) << "B was changed";
  }
  return all;
}

/// The same from the host and back.
template <class T>
Answer<T> answer_from_host(const Matrix<T>& A, const Matrix<T>& B, const Options& o, Op op, bool, bool with_rcond) {
  Answer<T> all;
  all.X = matrix_of<T>(B.rows(), B.cols(), [](auto, auto) { return 7; });
  try {
    Factorization<T> factors(A.view(), o);
    all.factored = factors.report();
    all.solved = factors.solve(B.view(), all.X.view(), op);
    if (with_rcond) all.rcond = factors.rcond();
  } catch (const std::invalid_argument& e) {
    all.thrown = e.what();
  }
  return all;
}

inline void expect_same_report(const Report& a, const Report& b) {
  expect_outcome(a.outcome, b.outcome.kind, b.outcome.at);
  EXPECT_EQ(notes_of(a), notes_of(b));
  const auto choices = [](const Report& r) {
    return std::tuple(r.device, r.gemm, r.n, r.nrhs, r.method, r.precision, r.storage, r.products, r.residual, r.refine,
                      r.schedule, r.block_size, r.threads, r.refine_iterations);
  };
  EXPECT_EQ(choices(a), choices(b));
  for (std::size_t p = 0; p < phase_count; ++p)
    EXPECT_NEAR(a.phases.flops[p], b.phases.flops[p], 1e-9 * b.phases.flops[p]);
  EXPECT_EQ(a.backward_error.has_value(), b.backward_error.has_value());
  if (a.hpl_residual && b.hpl_residual && a.outcome.ok()) {
    EXPECT_NEAR(*a.hpl_residual, *b.hpl_residual, judged_by_report);
  }
}

/// Symmetric, with a positive diagonal, and minors that are positive up to the order `first`.
template <class T>
Matrix<T> indefinite(std::int64_t n, std::int64_t first) {
  return matrix_of<T>(n, n, [=](auto i, auto j) {
    return i == j ? 1 : std::min(i, j) == 0 && std::max(i, j) == first ? 3 : T(0.5) / T(n);
  });
}

}  // namespace lasolve::test
