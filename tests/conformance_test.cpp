// The conformance suite finds what is wrong with a kernel, and says where; and its oracle is that of the other tests.
#include "conforming.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "reference.hpp"
#include "wrong_kernels.hpp"

namespace lasolve::test {
namespace {

using bench::Case;
using bench::Fault;
using bench::Layout;
using bench::Values;

/// The first fault of a kernel on one core.
template <Precision P>
Fault fault_of(GemmKernel<P, Cpu> kernel, const std::vector<bench::Product>& timed = {}) {
  Queue<Cpu> q(1);
  const bench::Verdict verdict = bench::conformance<P, Cpu>(q, q, kernel, timed);
  if (!verdict.fault) ADD_FAILURE() << "nothing was found";
  return verdict.fault.value_or(Fault{});
}
Fault fault_of(GemmFunction<double, Cpu> function) { return fault_of(GemmKernel<Precision::fp64, Cpu>(function)); }

TEST(Conformance, finds_nothing_wrong_with_what_is_right) {
  Queue<Cpu> q(1);
  for_each_precision([&](auto P) {
    using A = Arithmetic<P>;
    const auto function = [](const void*, Queue<Cpu>&, typename A::Result alpha, Operand<typename A::Operand> a,
                             Operand<typename A::Operand> b, typename A::Result beta,
                             MatrixView<typename A::Result> c) { wrong::right(alpha, a, b, beta, c); };
    const auto verdict = bench::conformance<P, Cpu>(q, q, GemmKernel<P, Cpu>(function), {bench::trailing(70, 9)});
    EXPECT_FALSE(verdict.fault) << name_of(P()) << ": " << said_of(*verdict.fault);
    EXPECT_GT(verdict.cases, 2500);
    ASSERT_EQ(verdict.errors.size(), 1u);
    EXPECT_LE(verdict.errors[0], 0.5);
    EXPECT_TRUE(verdict.grade.is_met()) << name_of(P()) << ": it " << bench::what_is_lost(verdict.grade);
    EXPECT_GT(verdict.grade.worst, 0) << "nothing was graded";
  });
}

TEST(Conformance, finds_an_operand_that_is_not_transposed) {
  const Fault a = fault_of(wrong::ignores_op_a), b = fault_of(wrong::ignores_op_b);
  for (const Fault& f : {a, b}) {
    EXPECT_EQ(f.kind, Fault::wrong_element);
    EXPECT_NE(f.element.found, f.element.expected);
    EXPECT_TRUE(says(said_of(f), "of " + std::to_string(f.at.m * f.at.n) + " elements are wrong"));
  }
  EXPECT_EQ(a.at.op_a, Op::transpose);
  EXPECT_TRUE(says(said_of(a), "op(A): transpose, op(B): none"));
  EXPECT_EQ(b.at.op_b, Op::transpose);
  EXPECT_TRUE(says(said_of(b), "op(A): none, op(B): transpose"));
}

template <Precision P>
void expect_lost_step() {
  using A = Arithmetic<P>;
  const Fault f = fault_of(GemmKernel<P, Cpu>(wrong::loses_a_step<typename A::Result, typename A::Operand>));
  EXPECT_EQ(f.kind, Fault::wrong_element);
  EXPECT_EQ(f.precision, P);
  EXPECT_EQ(f.at.k % 8, 5);
  EXPECT_TRUE(says(said_of(f), std::string("in ") + name_of(P)));
  EXPECT_TRUE(says(said_of(f), "; with the last step of k it would be right"));
}
TEST(Conformance, finds_a_step_that_is_lost) {
  expect_lost_step<Precision::fp64>();
  expect_lost_step<Precision::fp32>();
  expect_lost_step<Precision::tf32>();
  expect_lost_step<Precision::fp16>();
  expect_lost_step<Precision::bf16>();
  EXPECT_GT(fault_of(wrong::forgets_what_is_deep).at.k, 512);
}

TEST(Conformance, finds_scalars_that_are_ignored) {
  EXPECT_NE(std::abs(fault_of(wrong::ignores_alpha).at.alpha), 1);
  const double beta = fault_of(wrong::ignores_beta).at.beta;
  EXPECT_TRUE(beta != 0 && beta != 1) << beta;
  const Fault reads = fault_of(wrong::reads_C_where_beta_is_zero);
  EXPECT_EQ(reads.at.beta, 0);
  EXPECT_TRUE(std::isnan(reads.element.found));
  EXPECT_TRUE(says(said_of(reads), "C held NaN before the call"));
}

TEST(Conformance, finds_what_is_written_beside_C) {
  const Fault below = fault_of(wrong::writes_below), before = fault_of(wrong::writes_before),
              behind = fault_of(wrong::writes_behind);
  for (const Fault& f : {below, before, behind}) EXPECT_EQ(f.kind, Fault::wrote_outside);
  EXPECT_EQ(below.at.m % 32, 1);
  EXPECT_EQ(below.element.i, below.at.m);
  EXPECT_EQ(below.element.j, 2);
  EXPECT_EQ(below.element.found, 7);
  EXPECT_TRUE(says(said_of(below), "below the last row"));
  EXPECT_EQ(before.element.j, -1);
  EXPECT_TRUE(says(said_of(before), "before the first column"));
  EXPECT_EQ(behind.element.j, behind.at.n);
  EXPECT_EQ(behind.element.i, 0);
  EXPECT_TRUE(says(said_of(behind), "behind the last column"));
}

TEST(Conformance, finds_what_is_wrong_with_distances_between_columns) {
  const Fault ld = fault_of(wrong::ignores_ld), pointer = fault_of(wrong::trusts_a_pointer);
  EXPECT_GT(ld.ld[2], ld.at.m);
  EXPECT_EQ(pointer.alignment[1] % 16, 0);
  EXPECT_EQ(pointer.ld[1] % 2, 1);
  EXPECT_EQ(pointer.element.i, 3);
  EXPECT_EQ(pointer.element.j, 4);
  EXPECT_EQ(pointer.element.wrong, 1);
}

/// Under AddressSanitizer, too, there are addresses for that.
TEST(Conformance, finds_indices_of_32_bits) {
  const Fault f = fault_of(wrong::has_short_indices);
  EXPECT_GT(std::max(f.ld[0], f.ld[1]), 1 << 30);
}

TEST(Conformance, finds_a_NaN_that_is_lost) {
  const Fault f = fault_of(wrong::swallows_nan);
  EXPECT_NE(f.at.spoil, bench::Spoil::nothing);
  EXPECT_TRUE(std::isnan(f.element.expected));
  EXPECT_EQ(f.element.found, 0);
  EXPECT_TRUE(says(said_of(f), "with a NaN in A(0, 0)"));
}

TEST(Conformance, finds_zeros_that_are_skipped) {
  const Fault f = fault_of(wrong::skips_zeros);
  EXPECT_TRUE(f.at.meets_zeros);
  EXPECT_TRUE(std::isnan(f.element.expected));
  EXPECT_TRUE(says(said_of(f), "0 times NaN"));
}

TEST(Conformance, finds_one_wrong_element) {
  const Fault f = fault_of(wrong::is_off_by_one);
  EXPECT_EQ(f.at.m, 129);
  EXPECT_EQ(f.element.i, 77);
  EXPECT_EQ(f.element.j, f.at.n - 1);
  EXPECT_NEAR(f.element.found - f.element.expected, 1, 1e-12);
  EXPECT_EQ(f.element.wrong, 1);
  EXPECT_EQ(f.element.of, f.at.m * f.at.n);
  EXPECT_EQ(f.element.lost_step, -1);
}

TEST(Conformance, finds_what_differs_when_called_again) {
  const Fault f = fault_of(wrong::remembers);
  EXPECT_EQ(f.call, 2);
  EXPECT_TRUE(says(said_of(f), "when called again with the same operands"));
}

TEST(Conformance, finds_changed_inputs_and_exceptions) {
  const Fault changed = fault_of(wrong::changes_an_input), thrown = fault_of(wrong::throws);
  EXPECT_EQ(changed.kind, Fault::changed_an_input);
  EXPECT_TRUE(says(said_of(changed), "it wrote 5 into its input: B(0, 0)"));
  EXPECT_EQ(thrown.kind, Fault::threw);
  EXPECT_EQ(thrown.at.n, 33);
  EXPECT_TRUE(says(said_of(thrown), "it threw: no luck"));
}

/// Only a device can have operands on their way; what is said of it is the same everywhere.
TEST(Conformance, says_that_a_kernel_works_on_another_stream) {
  Fault f;
  f.at = {.m = 2, .n = 2, .k = 2, .late = true};
  EXPECT_EQ(bench::what_is_wrong(f).find("another"), std::string::npos);
  f.only_late = true;
  EXPECT_TRUE(says(bench::what_is_wrong(f), "wrong where they come on its stream: it works on another"));
  for (const Precision p : {Precision::fp64, Precision::fp16}) {
    for (const bench::Group& group : bench::conformance_list(p, Device::cpu))
      for (const Case& c : group.cases) ASSERT_FALSE(c.late) << group.name;
    EXPECT_TRUE(bench::conformance_list(p, Device::cuda).front().cases.front().late);
  }
}

/// What is found when the work of a call is done is the kernel's fault at that call.
TEST(Conformance, hears_what_is_found_behind_a_call) {
  Queue<Cpu> q(1);
  int calls = 0;
  const auto verdict =
      bench::conformance<Precision::fp32, Cpu>(q, q, GemmKernel<Precision::fp32, Cpu>(wrong::is_right), {}, {}, [&] {
        if (++calls == 5) throw std::runtime_error("a guard has changed");
      });
  ASSERT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.cases, 5);
  EXPECT_EQ(verdict.fault->kind, Fault::threw);
  EXPECT_TRUE(says(said_of(*verdict.fault), "it threw: a guard has changed"));
}

TEST(Conformance, does_not_blame_a_kernel_for_a_machine_without_memory) {
  Queue<Cpu> q(1);
  const GemmKernel<Precision::fp64, Cpu> kernel(wrong::finds_no_memory);
  EXPECT_THROW((bench::conformance<Precision::fp64, Cpu>(q, q, kernel, {})), std::bad_alloc);
}

TEST(Conformance, finds_arithmetic_that_is_coarser_than_it_says) {
  const Fault f = fault_of(GemmKernel<Precision::fp32, Cpu>(wrong::is_coarse));
  EXPECT_EQ(f.at.values, Values::uniform);
  EXPECT_GT(std::abs(f.element.found - f.element.expected), f.element.bound);
  Queue<Cpu> q(1);
  const GemmKernel<Precision::fp32, Cpu> honest(wrong::is_coarse, 0x1p-11);
  EXPECT_FALSE((bench::conformance<Precision::fp32, Cpu>(q, q, honest).fault));
}

/// The product is so large that only a projection looks at all of it, and what is wrong is far below the bound in norms.
TEST(Conformance, finds_one_wrong_element_of_a_product_that_is_timed) {
  const bench::Product large{"given", 2100, 150, 120, -1, 1};
  const Fault f = fault_of(GemmKernel<Precision::fp32, Cpu>(wrong::is_wrong_where_large<float>), {large});
  EXPECT_EQ(f.at.m, 2100);
  EXPECT_EQ(f.element.i, 1234);
  EXPECT_EQ(f.element.j, 56);
  EXPECT_EQ(f.element.found, f.element.expected + 1);
  EXPECT_EQ(f.ld[2], (Matrix<float>(2100, 150).ld()));
}

/// A wrong element that only several cores make is one of static memory, or of threads.
TEST(Conformance, says_that_a_kernel_is_right_on_one_core) {
  Queue<Cpu> q(3);
  const GemmKernel<Precision::fp64, Cpu> kernel(wrong::shares_static_memory);
  const auto verdict = bench::conformance<Precision::fp64, Cpu>(q, q, kernel, {});
  ASSERT_TRUE(verdict.fault);
  EXPECT_TRUE(verdict.fault->only_concurrent);
  EXPECT_TRUE(says(said_of(*verdict.fault), "it is right where one core calls it at a time"));
  EXPECT_FALSE(fault_of(wrong::is_off_by_one).only_concurrent);
}

/// The products of a solve have its sizes, or, where these are large, as much of them as is tried.
TEST(Conformance, covers_the_sizes_of_a_solve) {
  const auto largest = [](std::int64_t n, auto size) {
    std::int64_t most = 0;
    for (const bench::Product& p : bench::products_of_a_solve(n)) {
      EXPECT_LE(p.flops(), 2 * 2.2e8) << n;
      EXPECT_LE(p.m * p.n, 1 << 24) << n;
      most = std::max(most, size(p));
    }
    return most;
  };
  for (const std::int64_t n : {300, 1000, 4096, 20000}) {
    EXPECT_EQ(largest(n, [](const auto& p) { return p.m; }), n);
    EXPECT_EQ(largest(n, [](const auto& p) { return p.n; }), n);
    EXPECT_EQ(largest(n, [](const auto& p) { return p.k; }), n);
  }
  EXPECT_TRUE(bench::products_of_a_solve(200).empty());  // which the list covers
  Queue<Cpu> q(2);
  const GemmKernel<Precision::fp64, Cpu> kernel(wrong::drifts_where_large);
  const auto sizes = bench::products_of_a_solve(1000);
  bench::Validation<Precision::fp64, Cpu> validation(q, q, kernel);
  EXPECT_FALSE((bench::conformance<Precision::fp64, Cpu>(q, q, kernel)).fault) << "the list is large enough";
  const auto fault = validation(bench::timed_cases(sizes.front()).front());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->at.m, 1000);
}

/// It keeps to the contract, which is one of norms; and loses digits where rows or columns differ in size.
TEST(ConformanceGrade, is_missed_by_fixed_point) {
  Queue<Cpu> q(2);
  const bench::Product large{"given", 300, 200, 160};  // more than is computed anew
  for (const auto& timed : {std::vector<bench::Product>{}, {large}}) {
    const GemmKernel<Precision::fp64, Cpu> kernel(wrong::shares_exponents<false, false>);
    const auto verdict = bench::conformance<Precision::fp64, Cpu>(q, q, kernel, timed);
    EXPECT_FALSE(verdict.fault) << said_of(*verdict.fault);
    EXPECT_GT(verdict.grade.worst, 1e3);
    EXPECT_FALSE(verdict.grade.is_met());
    EXPECT_TRUE(says(bench::what_is_lost(verdict.grade), "keeps to norms, not to each element"));
    EXPECT_TRUE(says(bench::what_is_lost(verdict.grade), "Digits are lost where"));
  }
  bench::Validation<Precision::fp64, Cpu> validation(
      q, q, GemmKernel<Precision::fp64, Cpu>(wrong::shares_exponents<false, false>));
  EXPECT_FALSE(validation(bench::graded_case(large)));
  EXPECT_GT(validation.grade().worst, 1e3);
}

/// One exponent for all rows or for all columns: the list asks each of these for its digits.
TEST(Conformance, finds_rows_and_columns_that_lose_their_digits) {
  for (const auto& kernel : {wrong::shares_exponents<true, false>, wrong::shares_exponents<false, true>})
    EXPECT_EQ(fault_of(kernel).at.values, Values::magnitudes);
}

/// By hand is the reference, and by it the oracle.
TEST(ConformanceOracle, has_the_elements_of_the_reference) {
  const Queue<Cpu> q(3);
  for (const Op op_a : ops)
    for (const Op op_b : ops)
      for (const double beta : {0.0, -0.5}) {
        Matrix<float> A(op_a == Op::none ? 7 : 5, op_a == Op::none ? 5 : 7, 9);
        Matrix<float> B(op_b == Op::none ? 5 : 6, op_b == Op::none ? 6 : 5, 8), C(7, 6);
        bench::fill_random(q, A.view(), 1);
        bench::fill_random(q, B.view(), 2);
        bench::fill_random(q, C.view(), 3);
        const bench::Expression<Precision::fp32> e{3, beta, {A.view(), op_a}, {B.view(), op_b}, C.view()};
        const auto R = product<float>(3, e.A, e.B, float(beta), C.view());
        const auto E = bench::expected<double>(q, e);
        std::vector<double> projected(6, 0);
        const bench::Projection<double, Precision::fp32> projection(q, e);
        Matrix<float> rounded(7, 6);
        for (std::int64_t j = 0; j < 6; ++j) {
          const auto column = bench::expected_column<double>(e, j);
          for (std::int64_t i = 0; i < 7; ++i) {
            EXPECT_NEAR(E(i, j), R(i, j), 1e-14);
            EXPECT_NEAR(column[std::size_t(i)], R(i, j), 1e-14);
            rounded(i, j) = float(R(i, j));
          }
        }
        for (const double error : projection.error(rounded.view())) EXPECT_NEAR(error, 0, 1e-5);
        rounded(4, 5) += 1;
        EXPECT_NEAR(std::abs(projection.error(rounded.view())[5]), 1, 1e-5);
      }
}

/// Rows, columns and steps of different size, and sums that nearly vanish.
TEST(ConformanceOracle, has_the_digits_of_long_double) {
  const Queue<Cpu> q(3);
  const auto power = [](std::int64_t i) { return std::ldexp(1.0, int(i * 37 % 101) - 50); };
  for (const std::int64_t k : {1, 2, 130, 2051})
    for (const bool scales_rows : {false, true})
      for (const bool scales_steps : {false, true}) {
        Matrix<double> A(13, k), B(k, 11), C(13, 11);
        bench::fill_random(q, A.view(), 1);
        bench::fill_random(q, B.view(), 2);
        bench::fill_random(q, C.view(), 3);
        for (std::int64_t l = 0; l < k; ++l) {
          A(12, l) = A(12, l / 2 * 2), A(5, l) = 0, B(l, 10) = l % 2 ? -B(l - 1, 10) : B(l, 10);
        }
        for (std::int64_t l = 0; l < k; ++l) {
          for (std::int64_t i = 0; i < 13; ++i) A(i, l) *= (scales_rows ? power(i) : 1) * (scales_steps ? power(l) : 1);
          for (std::int64_t j = 0; j < 11; ++j) B(l, j) *= (scales_rows ? power(j) : 1) / (scales_steps ? power(l) : 1);
        }
        const bench::Expression<Precision::fp64> e{-1, 0, A.view(), B.view(), C.view()};
        const auto E = bench::expected<long double>(q, e);
        for (std::int64_t j = 0; j < 11; ++j) {
          const auto column = bench::expected_column<long double>(e, j);
          const auto sizes = bench::magnitudes_of_column(e, j);
          for (std::int64_t i = 0; i < 13; ++i) {
            const auto at = std::size_t(i);
            EXPECT_LE(std::abs(E(i, j) - column[at]), double(k + 2) * 0x1p-64L * sizes[at])
                << i << ", " << j << ", k = " << k;
          }
        }
      }
}

}  // namespace
}  // namespace lasolve::test
