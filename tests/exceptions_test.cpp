// What an exception leaves behind: the factorization as it was, and nothing under way.
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test::exceptions_test {
namespace {

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Counts down to the call that is to fail; below 1 none is.
struct Countdown {
  int left = 0;
  bool ends() { return left > 0 && --left == 0; }
};
Countdown until_out_of_memory;

template <class Space>
const GemmBackend<Space>& usual() {
  for (const auto* backend : gemm_backends<Space>())
    if (backend->name == std::string(std::is_same_v<Space, Cpu> ? "eigen" : "cublas")) return *backend;
  throw std::logic_error("no usual backend");
}
template <class T, class Space>
void product_or_exception(const void*, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
                          MatrixView<T, Space> C) {
  if (std::is_same_v<T, double> && until_out_of_memory.ends()) throw OutOfMemory("device", 2 << 20, 1 << 20);
  usual<Space>()(q, alpha, A, B, beta, C);
}
template <class Space>
const GemmBackend<Space> failing{.name = "failing",
                                 .summary = "",
                                 .kernels = {product_or_exception<double, Space>, product_or_exception<float, Space>}};

constexpr std::int64_t n = 120;

/// fp32 factors of a matrix that needs fp64 ones, which a solve finds out.
class Exception : public OnTarget {
 protected:
  Options coarse(Method method) const {
    Options o = options(16);
    o.precision = Precision::fp32;
    o.refine = Refine::classical;  // gmres might take what these tests replace
    o.factorization = method;
    return o;
  }
  static void expect_same(const Report& a, const Report& b) {
    EXPECT_EQ(a.outcome.kind, b.outcome.kind);
    EXPECT_EQ(a.precision, b.precision);
    EXPECT_EQ(a.method, b.method);
    EXPECT_EQ(notes_of(a), notes_of(b));
    EXPECT_EQ(a.phases.seconds, b.phases.seconds);
    EXPECT_EQ(a.factor_seconds, b.factor_seconds);
    EXPECT_EQ(a.total_seconds, b.total_seconds);
  }
  /// A positive definite matrix that has a Cholesky factorization in fp32, too: there one of its pivots is 3e-8 instead of 1e-12.
  static Matrix<double> hidden_from_fp32() {
    Matrix<double> A = random_with_condition(n, 10, true);
    for (std::int64_t i = 0; i < n; ++i) A(i, 0) = A(0, i) = A(i, 1) = A(1, i) = 0;
    A(0, 0) = 1, A(1, 0) = A(0, 1) = 0.7, A(1, 1) = 0.7 * 0.7 + 1e-12;
    return A;
  }
  /// `arm(k)` makes the k-th call in a solve fail with an E, for k = 1, 2, … until there are no more; `arm(0)` none.
  template <class E, class Arm>
  void expect_solves_after_each_failure(const Options& o, Arm arm) {
    const Matrix<double> A = o.factorization == Method::lu ? random_with_condition(n, 1e12) : hidden_from_fp32(),
                         B = right_hand_sides<double>(A.view(), 2);
    bool done = false;
    int k = 1;
    for (; !done; ++k) {
      SCOPED_TRACE(testing::Message() << "call " << k << ", method " << int(o.factorization));
      Factorization<double> factors(A.view(), o);
      const Report before = factors.report();
      ASSERT_EQ(before.precision, Precision::fp32);
      Matrix<double> X = rounded<double>(B);
      arm(k);
      try {
        factors.solve(B.view(), X.view());
        done = true;
      } catch (const E&) {
        expect_same(factors.report(), before);
      }
      arm(0);
      for (const Op op : {Op::none, Op::transpose}) {
        Matrix<double> Y = rounded<double>(B);
        const Report after = factors.solve(Y.view(), Y.view(), op);
        EXPECT_TRUE(after.outcome.ok()) << after.outcome.message();
        EXPECT_EQ(after.precision, Precision::fp64);
        EXPECT_EQ(after.notes.size(), 1u) << notes_of(after);
        EXPECT_LT(hpl_residual<double>({A.view(), op}, B.view(), Y.view()), hpl_threshold);
      }
      EXPECT_EQ(factors.report().precision, Precision::fp64);
      ASSERT_LT(k, 1000);
    }
    EXPECT_GT(k, 3) << "nothing failed";
  }
};

TEST_P(Exception, from_progress_while_coarse_factors_are_replaced_changes_nothing) {
  Countdown calls;
  for (const Method method : {Method::lu, Method::cholesky}) {
    Options o = coarse(method);
    o.progress = [&](double) {
      if (calls.ends()) throw Stopped("the caller has seen enough");
    };
    expect_solves_after_each_failure<Stopped>(o, [&](int k) { calls.left = k; });
  }
}

TEST_P(Exception, for_want_of_memory_while_coarse_factors_are_replaced_changes_nothing) {
  for (const Method method : {Method::lu, Method::cholesky}) {
    Options o = coarse(method);
    if (GetParam().device == Device::cpu)
      o.gemm = &failing<Cpu>;
    else
      o.gemm = &failing<Cuda>;
    o.device = {};
    expect_solves_after_each_failure<OutOfMemory>(o, [](int k) { until_out_of_memory.left = k; });
  }
}

TEST_P(Exception, for_a_call_from_within_another_on_the_same_factorization) {
  const Matrix<double> A = random_with_condition(n, 1e12, false), B = right_hand_sides<double>(A.view(), 2);
  Matrix<double> X(n, 2);
  Factorization<double>* itself = nullptr;
  Options o = coarse(Method::lu);
  o.progress = [&](double) {
    if (itself) itself->rcond();
  };
  Factorization<double> factors(A.view(), o);
  itself = &factors;
  EXPECT_TRUE(
      says(complaint_of<std::invalid_argument>([&] { factors.solve(B.view(), X.view()); }), "from within another"));
  itself = nullptr;
  EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
}

TEST_P(Exception, from_progress_ends_a_factorization_and_the_next_is_as_ever) {
  const Matrix<double> A = random_with_condition(n, 10, true), B = right_hand_sides<double>(A.view(), 2);
  for (const Method method : {Method::lu, Method::cholesky, Method::automatic})
    for (const Schedule schedule : schedules) {
      int thrown = 0;
      for (bool done = false; !done;) {
        Countdown calls{thrown + 1};
        Options o = options(16);
        o.factorization = method;
        o.schedule = schedule;
        o.progress = [&](double) {
          if (calls.ends()) throw Stopped("the caller has seen enough");
        };
        try {
          Factorization<double> factors(A.view(), o);
          done = true;
          Matrix<double> X(n, 2);
          EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
          EXPECT_LT(hpl_residual<double>(A.view(), B.view(), X.view()), hpl_threshold);
        } catch (const Stopped&) {
          ++thrown;
        }
      }
      EXPECT_GT(thrown, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Exception, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, Exception, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test::exceptions_test
