// Factors that are stored in fewer bits than they are computed in.
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/lu/cpu/panel.hpp"
// what templates below find at their definition: the primitives of the CPU

#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/decomposition.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

using StoredFactors = OnTarget;

TEST_P(StoredFactors, are_refined_as_others_are) {
  for (const Precision storage : {Precision::fp16, Precision::bf16})
    for (const Method method : {Method::lu, Method::cholesky, Method::lu_nopivot})
      for (const Op op : {Op::none, Op::transpose})
        for (const auto& [order, nrhs] : {std::pair{1, 1}, {5, 3}, {511, 1}, {513, 20}, {1100, 2}}) {
          const std::int64_t n = order;
          SCOPED_TRACE(testing::Message() << name_of(method) << ", op " << int(op) << ", n = " << n << ", " << nrhs
                                          << ", in " << name_of(storage));
          Options o = options();
          o.factorization = method, o.storage = storage, o.assume_suitable = true;
          const Matrix<double> A = matrix_of<double>(n, n, [&](std::int64_t i, std::int64_t j) {
            return i == j ? 4.0 : std::cos(double(i) * double(j + (method == Method::cholesky ? 0 : 1))) / double(n);
          });
          const auto solved = solve_random(A, nrhs, o, op);
          expect_solved(solved);
          EXPECT_EQ(solved.report.precision, Precision::fp32);
          EXPECT_EQ(solved.report.storage, storage);
          EXPECT_EQ(solved.report.products, Precision::fp32);
          EXPECT_GE(solved.report.refine_iterations, n > 1 ? 2 : 1) << "it is no coarser than fp32";
          EXPECT_EQ(notes_of(solved.report), "");
        }
}

TEST(Storage, is_of_what_factors_are_computed_in) {
  const Matrix<double> A = random_with_condition(50, 10), B = random_matrix(50, 1);
  Matrix<double> X(50, 1);
  const auto refusal = [&](Precision precision, Precision storage) {
    Options o;
    o.gemm = std::string("naive"), o.device = {Device::cpu};
    o.precision = precision, o.storage = storage;
    try {
      (void)solve(A.view(), B.view(), X.view(), o);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(Precision::fp64, Precision::bf16),
            "lasolve: factors that are stored in bf16 are computed in fp32, not fp64");
  EXPECT_EQ(refusal(Precision::fp32, Precision::fp64),
            "lasolve: factors that are stored in fp64 are computed in fp64, not fp32");
  EXPECT_EQ(refusal(Precision::fp32, Precision::tf32), "lasolve: factors are not stored in tf32");
  EXPECT_EQ(refusal(Precision::fp64, Precision::fp64), "");
  EXPECT_EQ(refusal(Precision::automatic, Precision::bf16), "");
}

/// Numbers beyond 65504 are infinite in fp16, those below 6e-8 are zero: A is scaled, so its units do not matter.
TEST_P(StoredFactors, in_fp16_are_of_a_matrix_in_its_range) {
  for (const double unit : {1e-30, 1e-7, 1e7, 1e30})
    for (const Method method : {Method::lu, Method::cholesky}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << " in units of " << unit);
      Options o = options();
      o.factorization = method, o.storage = Precision::fp16;
      const auto solved = solve_random(scaled(unit, random_with_condition(300, 10, true)), 2, o);
      expect_solved(solved);
      EXPECT_EQ(solved.report.storage, Precision::fp16);
      EXPECT_EQ(notes_of(solved.report), "");
    }
}

/// Refined solutions are as good; the memory of the factors, that of one in fp32 and one that is stored in half of it.
TEST(Storage, in_bf16_takes_half_of_the_memory_when_it_is_finished) {
  const Matrix<double> A = random_with_condition(300, 10);
  Queue<Cpu> q(1);
  const auto bytes_in = [&](Precision storage) {
    const Recipe by{.method = Method::lu,
                    .schedule = Schedule::right_looking,
                    .widths = {.panel = 32},
                    .precision = *find_solve_precision(Precision::fp32, storage)};
    const auto factors = decomposition_by<double>(by, some_backend<Cpu>(), A.rows(), (Matrix<double>*)nullptr);
    factors->take(q, A.view());
    factors->factor(q, by);
    EXPECT_TRUE(factors->outcome_of(*factors->ending(q)).ok());
    factors->release_workspace();
    return double(factors->bytes());
  };
  EXPECT_LT(bytes_in(Precision::bf16), 0.55 * bytes_in(Precision::fp32));
}

INSTANTIATE_TEST_SUITE_P(Cpu, StoredFactors, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, StoredFactors, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
