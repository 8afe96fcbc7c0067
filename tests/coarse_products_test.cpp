// fp32 factors whose products are coarser still, refined: when that works, when it stalls, and what is said about it.
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// fp32 factors whose products are computed in tf32, fp16 or bf16, by a backend of the place that has all.
class CoarseProducts : public testing::TestWithParam<std::tuple<Target, Precision>> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(target().device); !why.empty()) GTEST_SKIP() << why;
  }
  static Target target() { return std::get<0>(GetParam()); }
  static Precision in() { return std::get<1>(GetParam()); }
  static bool on_cuda() { return target().device == Device::cuda; }
  template <class F>
  static void with_element(F f) {
    target().single ? f(float()) : f(double());
  }
  static Options coarse() {
    Options o;
    o.device.kind = target().device, o.block_size = 32;
    o.gemm = on_cuda() ? "tensor" : "naive";
    o.precision = in();
    o.factorization = Method::lu;
    return o;
  }
  static void expect_precisions(const Report& r, Precision name, Precision storage, Precision products) {
    EXPECT_EQ(r.precision, name);
    EXPECT_EQ(r.storage, storage);
    EXPECT_EQ(r.products, products);
  }
  static double roundoff() { return find_solve_precision(in())->unit_roundoff(); }
};

/// The entries of a row beside the diagonal are together half as large as that.
template <class T>
Matrix<T> diagonally_dominant(std::int64_t n) {
  Matrix<T> A = random_matrix<T>(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    T sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::abs(A(i, j));
    A(i, i) = 2 * sum;
  }
  return A;
}

TEST_P(CoarseProducts, are_refined_where_the_diagonal_dominates) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {1, 40, 200, 300})
      for (const Op op : {Op::none, Op::transpose})
        for (const std::int64_t nrhs : {1, 20}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << ", op " << int(op) << ", nrhs = " << nrhs);
          const auto solved = solve_random(diagonally_dominant<T>(n), nrhs, coarse(), op);
          expect_solved(solved);
          expect_precisions(solved.report, in(), Precision::fp32, in());
          EXPECT_EQ(solved.report.residual, precision_of<T>);
          EXPECT_EQ(solved.report.refine, Refine::classical);
          EXPECT_EQ(notes_of(solved.report), "");
        }
  });
}

/// As operands of fp16 the entries would overflow, or vanish.
TEST_P(CoarseProducts, have_the_range_of_fp32) {
  for (const float size : {1e9f, 1e-9f})
    for (const Method method : {Method::lu, Method::cholesky}) {
      SCOPED_TRACE(testing::Message() << size << ", " << name_of(method));
      Matrix<double> A = method == Method::lu ? diagonally_dominant<double>(200) : random_with_condition(200, 10, true);
      for (std::int64_t j = 0; j < A.cols(); ++j)
        for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) *= double(size);
      Options o = coarse();
      o.factorization = method;
      const auto solved = solve_random(std::move(A), 3, o);
      expect_solved(solved);
      expect_precisions(solved.report, in(), Precision::fp32, in());
    }
}

/// Else these would be fp32 products with another name.
TEST_P(CoarseProducts, are_coarser_than_those_of_fp32) {
  const Matrix<double> A = random_with_condition(300, 10), B = right_hand_sides<double>(A.view(), 2);
  Options low = coarse(), fp32 = coarse();
  fp32.precision = Precision::fp32;
  fp32.gemm = "auto";
  low.refine = fp32.refine = Refine::none;
  low.condition = false;  // which leaves no digit in bf16
  const auto in_low = solve_for(A, B, low, Op::none, roundoff()), in_fp32 = solve_for(A, B, fp32);
  EXPECT_LT(in_low.hpl, hpl_threshold);
  EXPECT_TRUE(in_low.report.outcome.ok());
  EXPECT_GT(*in_low.report.backward_error, 5 * *in_fp32.report.backward_error);
}

/// A uniform matrix of this size stalls whatever the seed; smaller ones converge now and then.
TEST_P(CoarseProducts, that_stall_are_replaced_by_the_precision_of_A_with_a_note) {
  if (target().single) GTEST_SKIP() << "residuals in fp32 do not see more than such factors need";
  Options o = coarse();
  o.refine = Refine::classical;
  const auto solved = solve_random(random_with_condition(300, 1e7), 1, o);
  expect_solved(solved);
  expect_precisions(solved.report, Precision::fp64, Precision::fp64, Precision::fp64);
  const std::string stalled =
      std::string("refinement in ") + name_of(in()) + " stalled: fp64 factors were used instead";
  EXPECT_NE(notes_of(solved.report).find(stalled), std::string::npos) << notes_of(solved.report);
}

/// The residual of the first x may be small beside that of its error, which the second has: of some of these systems it is.
TEST_P(CoarseProducts, go_on_where_the_first_update_does_not_halve_the_residual) {
  if (target().single || in() != Precision::tf32) GTEST_SKIP() << "others need GMRES";
  if (on_cuda()) GTEST_SKIP() << "it is the same code, and which system shows it depends on roundings";
  if (is_sanitized) GTEST_SKIP() << "takes long";
  Options o = coarse();
  o.refine = Refine::classical;
  bool goes_on = false;
  for (std::uint64_t seed = 1; seed <= 12 && !goes_on; ++seed) {
    const Report report = solve_random(random_matrix<double>(1500, 1500, seed), 1, o).report;
    const std::vector<double>& residuals = report.refinement_residuals;
    goes_on =
        report.precision == in() && report.outcome.ok() && residuals.size() > 2 && residuals[1] > residuals[0] / 2;
  }
  EXPECT_TRUE(goes_on) << "of no system";
}

/// Where nothing is said, those right-hand sides begin anew by GMRES.
TEST_P(CoarseProducts, that_stall_are_corrected_by_gmres) {
  if (target().single) GTEST_SKIP() << "residuals in fp32 do not see more than such factors need";
  for (const std::int64_t nrhs : {1, 7}) {
    SCOPED_TRACE(nrhs);
    const auto solved = solve_random(random_with_condition(300, in() == Precision::bf16 ? 1e5 : 1e6), nrhs, coarse());
    expect_solved(solved);
    expect_precisions(solved.report, in(), Precision::fp32, in());
    EXPECT_EQ(solved.report.refine, Refine::gmres);
    EXPECT_GT(solved.report.gmres_steps, 1);
    EXPECT_EQ(notes_of(solved.report), "");
  }
}

TEST_P(CoarseProducts, are_refused_by_a_backend_that_has_none_which_names_those_that_have) {
  Options o = coarse();
  o.gemm = on_cuda() ? "pipelined" : "eigen";
  const std::string said =
      complaint_of<std::invalid_argument>([&] { solve_random(random_matrix<double>(5, 5), 1, o); });
  EXPECT_TRUE(says(said, (std::string("products in ") + name_of(in())).c_str()));
  EXPECT_TRUE(says(said, on_cuda() ? "tensor" : "naive"));
}

const auto coarse_products = testing::Values(Precision::tf32, Precision::fp16, Precision::bf16);
const auto name_of_coarse = [](const auto& info) {
  const auto [target, precision] = info.param;
  return std::string(name_of(precision)) + (target.single ? "_f32" : "_f64");
};
INSTANTIATE_TEST_SUITE_P(Cpu, CoarseProducts,
                         testing::Combine(testing::Values(Target{Device::cpu, false}, Target{Device::cpu, true}),
                                          coarse_products),
                         name_of_coarse);
INSTANTIATE_TEST_SUITE_P(Cuda, CoarseProducts,
                         testing::Combine(testing::Values(Target{Device::cuda, false}, Target{Device::cuda, true}),
                                          coarse_products),
                         name_of_coarse);

}  // namespace
}  // namespace lasolve::test
