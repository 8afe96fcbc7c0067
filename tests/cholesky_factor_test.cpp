// The factor of A = L Lᵀ, which is only seen from inside, on the CPU.
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/lu/cpu/panel.hpp"
//
#include "core/choose.hpp"
#include "devices.hpp"
#include "solvers/decomposition.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

template <class T>
class CholeskyFactor : public testing::Test {};
using Elements = testing::Types<double, float>;
TYPED_TEST_SUITE(CholeskyFactor, Elements);

TYPED_TEST(CholeskyFactor, has_a_small_residual) {
  using T = TypeParam;
  Queue<Cpu> q(3);
  for (const MatrixType& type : positive_definite_types)
    for (const auto& [n, nb] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {3, 7}, {16, 7}, {32, 32}, {33, 32}, {67, 32}, {129, 64}, {257, 160}, {401, 300}}) {
      SCOPED_TRACE(testing::Message() << type.name << ", n = " << n << ", nb = " << nb);
      const Matrix<T> A = rounded<T>(type.make(n, floating_point<T>));
      const GemmBackend<Cpu>& backend = some_backend<Cpu>();
      DecompositionIn<T, Cpu> factors(backend, precision_of<T>, Method::cholesky, rounded<T>(A)),
          arriving(backend, precision_of<T>, Method::cholesky, Matrix<T>(n, n));
      const auto outcome_of = [&](auto& of) { return of.outcome_of(*of.ending(q)); };
      Recipe by{.method = Method::cholesky, .schedule = schedules[n % 3], .widths = {.panel = nb}};
      factors.factor(q, by);
      EXPECT_TRUE(outcome_of(factors).ok());
      EXPECT_LT((cholesky_residual<T>(A.view(), factors.values())), 30);
      const Arriving<T, Cpu> its{A.view(), [](auto&, auto) {}};
      by.schedule = Schedule::left_looking, by.as_it_comes = true;
      by.widths.least = by.widths.unit = (nb + 7) / 8, by.widths.of_before = 0.5;
      arriving.factor(q, by, &its);
      EXPECT_TRUE(outcome_of(arriving).ok());
      EXPECT_LT((cholesky_residual<T>(A.view(), arriving.values())), 30);
    }
}

/// See Use::lower. What is above the diagonal is spoiled.
template <class T>
void lower_product(const void*, Queue<Cpu>&, T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, T beta, MatrixView<T> C) {
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      T sum = 0;
      for (std::int64_t l = 0; l < A.cols(); ++l) sum += A(i, l) * B(l, j);
      C(i, j) = i < j ? std::numeric_limits<T>::quiet_NaN() : alpha * sum + beta * C(i, j);
    }
}

/// A plan that was lowered for a device, by what the host does for each task.
TYPED_TEST(CholeskyFactor, of_a_lowered_plan_has_a_small_residual) {
  using T = TypeParam;
  Capabilities can{.cholesky_leaf = 16,
                   .cholesky = {.leaf_rows = 200, .product_binds = 5000, .rows_apart = never, .work_apart = 0},
                   .diagonal_update = 32,
                   .symmetric_update = 24};
  Queue<Cpu> q(3);
  GemmBackend<Cpu> backend = some_backend<Cpu>();
  backend.kernels = GemmKernel(backend.in<precision_of<T>>().function).with_lower(lower_product<T>);
  const Gemm<T, Cpu> whole(some_backend<Cpu>()), of_triangles(backend);
  ASSERT_TRUE(of_triangles.has_lower());
  for (const auto& [n, nb] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {67, 16}, {257, 48}, {401, 64}}) {
    const Matrix<T> A = rounded<T>(random_with_condition(n, 100, true));
    for (const Schedule schedule :
         {Schedule::left_looking, Schedule::right_looking, Schedule::recursive, Schedule::right_looking}) {
      can.one_symmetric_product = !can.one_symmetric_product;
      const Gemm<T, Cpu>& gemm = can.one_symmetric_product ? of_triangles : whole;
      SCOPED_TRACE(testing::Message() << "schedule " << int(schedule) << ", n = " << n << ", nb = " << nb);
      Matrix<T> L = rounded<T>(A);
      Matrix<std::int64_t> pivots(n, Pivots<Cpu>::columns), status(1, 1);
      status(0, 0) = -1;
      const Supply<T, Cpu> none;
      const Plan plan =
          lower(plan_of(Method::cholesky, schedule, {.n = n, .widths = {.panel = nb}, .lanes = four_lanes}), can);
      Buffers<T, Cpu> buffers(plan);
      const Workpiece<T, Cpu> of{gemm, L, Pivots<Cpu>::in(pivots, status), none, buffers};
      for (const Task& task : plan.tasks) ASSERT_TRUE(perform(q, q, Method::cholesky, task, of));
      EXPECT_LT((cholesky_residual<T>(A.view(), L.view())), 30);
    }
  }
}

/// A task that the executor does not know must not pass for another.
TYPED_TEST(CholeskyFactor, of_a_plan_with_a_task_of_LU_is_refused) {
  using T = TypeParam;
  Queue<Cpu> q(1);
  const Gemm<T, Cpu> gemm(some_backend<Cpu>());
  Matrix<T> A = rounded<T>(random_with_condition(8, 10, true));
  Matrix<std::int64_t> status(1, 1), no_pivots(0, Pivots<Cpu>::columns);
  const Supply<T, Cpu> none;
  Buffers<T, Cpu> buffers(Plan{});
  const Workpiece<T, Cpu> of{gemm, A, Pivots<Cpu>::in(no_pivots, status), none, buffers};
  for (const TaskType* type : {&lu_task::interchange, &lu_task::combine, &lu_task::panel_in_place,
                               &lu_task::lookahead_update, &lu_task::begin_later, &lu_task::prepend})
    EXPECT_THROW(perform(q, q, Method::cholesky, {.type = type, .lane = {}}, of), std::logic_error) << type->name;
}

}  // namespace
}  // namespace lasolve::test
