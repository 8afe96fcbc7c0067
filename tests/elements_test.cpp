// Factors of each element that matrices on the CPU may have, seen from inside, beside Eigen's.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <complex>
#include <random>

#include "core/cpu/eigen.hpp"
#include "core/cpu/elements.hpp"
#include "devices.hpp"
#include "solvers/cholesky/cpu/panel.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/devices/primitives.hpp"
#include "solvers/driver/solver.hpp"
#include "solvers/lu/cpu/panel.hpp"
#include "solvers/recipe_fields.hpp"

namespace lasolve {
// Compiled once, in solvers/devices/cpu/engine.cpp.
#define LASOLVE_EXTERN(T) extern template class Solver<T, Cpu>;
LASOLVE_ELEMENTS(LASOLVE_EXTERN)
#undef LASOLVE_EXTERN
}  // namespace lasolve

namespace lasolve::test::elements_test {
namespace {

template <class... T>
testing::Types<T...> without_first(void (*)(int, T...));
#define LASOLVE_AND(T) , T
using Elements = decltype(without_first(static_cast<void (*)(int LASOLVE_CPU_ELEMENTS(LASOLVE_AND))>(nullptr)));
#undef LASOLVE_AND

constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

/// The type in which it is judged.
template <class T>
struct WideOf {
  using Type = long double;
};
template <ComplexElement T>
struct WideOf<T> {
  using Type = std::complex<long double>;
};
template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Wide = Dense<typename WideOf<T>::Type>;

/// With parts from −1 to 1, or small integers.
template <class T>
Matrix<T> random_elements(std::int64_t m, std::int64_t n, unsigned seed, bool integers = false) {
  std::mt19937 random(seed);
  const auto part = [&] {
    const double x = double(random()) / 0x1p31 - 1;
    return real_of<T>(integers ? std::floor(4 * x) : x);
  };
  Matrix<T> A(m, n, m + 3);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      if constexpr (ComplexElement<T>)
        A(i, j) = T(part(), part());
      else
        A(i, j) = part();
  return A;
}

template <class T>
Wide<T> wide(MatrixView<const T> A) {
  return as_eigen(A).template cast<typename WideOf<T>::Type>();
}
template <class M>
M applied(Op op, const M& A) {
  return op == Op::none ? A : op == Op::transpose ? M(A.transpose()) : M(A.adjoint());
}
template <class M>
double infinity_norm(const M& A) {
  return A.size() == 0 ? 0 : double(A.cwiseAbs().rowwise().sum().maxCoeff());
}
/// HPL's residual of the worst of some columns, with moduli.
template <class T>
double hpl_residual(Op op, MatrixView<const T> A, MatrixView<const T> X, MatrixView<const T> B) {
  const Wide<T> a = applied(op, wide(A)), x = wide(X), b = wide(B),
                r = b - a.lazyProduct(x);  // Eigen's own products take longer to compile
  double worst = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    const auto most = [j](const Wide<T>& of) { return double(of.col(j).cwiseAbs().maxCoeff()); };
    worst = larger(worst, most(r) / (infinity_norm(a) * most(x) + most(b)));
  }
  return worst / (unit_roundoff_of(precision_of<T>) * double(A.rows()));
}

template <class T>
class FactorsOf : public testing::Test {
 protected:
  std::unique_ptr<DecompositionIn<T, Cpu>> factored(const Matrix<T>& A, Method method, Schedule schedule,
                                                    std::int64_t nb, const GemmBackend<Cpu>& backend) {
    Matrix<T> memory(A.rows(), A.cols());
    auto factors = std::make_unique<DecompositionIn<T, Cpu>>(backend, precision_of<T>, method, std::move(memory));
    const Recipe by{.method = method, .schedule = schedule, .widths = {.panel = nb}};
    factors->prepare(q, by);
    factors->take(q, A.view());
    factors->factor(q, by);
    outcome = factors->outcome_of(*factors->ending(q));
    return factors;
  }
  /// Solves with factors of A for few and for many right-hand sides.
  void expect_solves(Factors<T, Cpu>& factors, const Matrix<T>& A) {
    const std::int64_t n = A.rows();
    const Wide<T> a = wide<T>(A.view());
    for (const Op op : ops) {
      const Eigen::PartialPivLU<Wide<T>> reference(applied(op, a));
      for (const std::int64_t nrhs : {1, 20}) {
        SCOPED_TRACE(testing::Message() << "op " << int(op) << ", nrhs = " << nrhs);
        const Matrix<T> B = random_elements<T>(n, nrhs, 5);
        Matrix<T> X(n, nrhs);
        factors.apply(q, B.view(), X.view(), op);
        EXPECT_LT(hpl_residual<T>(op, A.view(), X.view(), B.view()), hpl_threshold);
        const Wide<T> x = reference.solve(wide<T>(B.view())), difference = x - wide<T>(X.view());
        const double bound = 2 * double(n) * unit_roundoff_of(precision_of<T>) / double(reference.rcond());
        EXPECT_LE(double(difference.norm()), bound * double(x.norm()));
      }
    }
  }
  Queue<Cpu> q{3};
  Outcome outcome;
};
TYPED_TEST_SUITE(FactorsOf, Elements);

TYPED_TEST(FactorsOf, have_a_small_residual_and_solve_with_each_op) {
  using T = TypeParam;
  constexpr Schedule schedules[] = {Schedule::right_looking, Schedule::left_looking, Schedule::recursive,
                                    Schedule::crout};
  constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 1},   {2, 7},   {9, 4},    {31, 32},  {64, 16},
                                                             {65, 32}, {130, 8}, {201, 64}, {160, 110}};
  for (const auto& [n, nb] : sizes)
    for (const Schedule schedule : schedules) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb << ", schedule " << int(schedule));
      const Matrix<T> A = random_elements<T>(n, n, unsigned(n));
      const auto backends = backends_here<Cpu>();
      const auto factors =
          this->factored(A, Method::lu, schedule, nb, *backends[std::size_t(n + nb) % backends.size()]);
      EXPECT_TRUE(this->outcome.ok());
      Wide<T> PA = wide<T>(A.view());
      const auto p = factors->pivots().p;
      for (std::int64_t i = 0; i < n; ++i) PA.row(i).swap(PA.row(p(i, 0)));
      const Wide<T> LU = wide<T>(factors->values());
      const Wide<T> L = LU.template triangularView<Eigen::UnitLower>(), U = LU.template triangularView<Eigen::Upper>();
      const double u = unit_roundoff_of(precision_of<T>);
      EXPECT_LT(infinity_norm(Wide<T>((PA - L.lazyProduct(U)).transpose())),
                30 * double(n) * u * infinity_norm(Wide<T>(PA.transpose())));
      const double longest = ComplexElement<T> ? std::sqrt(2.0) : 1;  // of a modulus, where |Re| + |Im| is at most 1
      EXPECT_LE(double(L.cwiseAbs().maxCoeff()), longest * (1 + 4 * u));
      if (schedule == schedules[0]) this->expect_solves(*factors, A);
    }
}

/// The products within triangular solves are tasks of the plan, and each computes what it does where a solve is one task.
TYPED_TEST(FactorsOf, have_the_same_bits_where_a_solve_is_one_task) {
  using T = TypeParam;
  constexpr std::tuple<Method, Schedule, std::int64_t, std::int64_t> cases[] = {
      {Method::lu, Schedule::right_looking, 330, 150}, {Method::lu, Schedule::right_looking, 207, 200},
      {Method::lu, Schedule::left_looking, 330, 130},  {Method::lu, Schedule::recursive, 400, 40},
      {Method::lu, Schedule::crout, 330, 200},         {Method::lu_nopivot, Schedule::right_looking, 330, 150},
      {Method::cholesky, Schedule::recursive, 400, 40}};
  for (const auto& [method, schedule, n, nb] : cases) {
    if (method == Method::cholesky && ComplexElement<T>) continue;  // there is none
    SCOPED_TRACE(testing::Message() << "method " << int(method) << ", schedule " << int(schedule));
    Matrix<T> A = random_elements<T>(n, n, unsigned(n));
    for (std::int64_t i = 0; i < n && method != Method::lu; ++i) A(i, i) += T(real_of<T>(2 * n));
    const auto backends = backends_here<Cpu>();
    const Gemm<T, Cpu> gemm(*backends[std::size_t(n + nb) % backends.size()], precision_of<T>);
    const Plan plan = plan_of(method, schedule, {.n = n, .widths = {.panel = nb}});
    const auto factors_by = [&](const Plan& its) {
      Matrix<T> F(n, n);
      copy_on_host<T>(A, F.view());
      Matrix<std::int64_t> notes(n, Pivots<Cpu>::columns + 1);
      const auto status = notes.view().block(0, Pivots<Cpu>::columns, 1, 1);
      status(0, 0) = -1;
      Buffers<T, Cpu> buffers(its);
      const auto pivots = Pivots<Cpu>::in(notes.view().block(0, 0, n, Pivots<Cpu>::columns), status);
      execute({its, {}}, this->q, Workpiece<T, Cpu>{gemm, F.view(), pivots, {}, buffers});
      return F;
    };
    const Plan lowered = lower(plan, capabilities_of<T>(this->q, n, Recipe()));
    const Matrix<T> F = factors_by(lowered), G = factors_by(plan);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = method == Method::cholesky ? j : 0; i < n; ++i)
        ASSERT_EQ(F(i, j), G(i, j)) << i << ", " << j;
    const auto products = [](const Plan& of) {
      return std::count_if(of.tasks.begin(), of.tasks.end(), [](const Task& task) { return task.type->is_product; });
    };
    EXPECT_EQ(products(lowered) > products(plan), n > nb + 7) << "few columns are solved for at once";
  }
}

TYPED_TEST(FactorsOf, without_interchanges_solve_with_each_op) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 33, 131}) {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    Matrix<T> A = random_elements<T>(n, n, unsigned(n));
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += T(real_of<T>(2 * n));
    const auto factors = this->factored(A, Method::lu_nopivot, Schedule::right_looking, 40, some_backend<Cpu>());
    EXPECT_TRUE(this->outcome.ok());
    this->expect_solves(*factors, A);
  }
}

TYPED_TEST(FactorsOf, name_the_first_column_without_a_pivot) {
  using T = TypeParam;
  for (const std::int64_t n : {5, 60, 100})
    for (const std::int64_t column : {std::int64_t(0), n / 2, n - 1}) {
      Matrix<T> A = random_elements<T>(n, n, unsigned(n));
      for (std::int64_t i = 0; i < n; ++i) A(i, column) = T(0);
      this->factored(A, Method::lu, Schedule::right_looking, 16, some_backend<Cpu>());
      EXPECT_EQ(this->outcome.kind, Outcome::singular);
      EXPECT_EQ(this->outcome.at, column);
    }
}

/// The solver with all that it does of its own: it refines, checks, and estimates the condition.
template <class T>
class SolverOf : public testing::Test {
 protected:
  static Options by_lu(Precision precision = Precision::automatic) {
    Options options;
    options.factorization = Method::lu, options.precision = precision, options.condition = options.bounds = true;
    return options;
  }
  Report solve(const Matrix<T>& A, const Matrix<T>& B, Matrix<T>& X, const Options& options, Op op = Op::none) {
    Queue<Cpu> q(3);
    const GemmBackend<Cpu>& backend = some_backend<Cpu>();
    Given<T, Cpu> given(A.view());
    const Recipes recipes = resolve(options, problem_of(given), means_of(backend, options, q.tuning(), false));
    Solver<T, Cpu> solver(q, backend, std::move(given), recipes, options, Facts{});
    solver.factor();
    return solver.solve(B.view(), X.view(), op);
  }
};
TYPED_TEST_SUITE(SolverOf, Elements);

/// One that did not come from these options, but is another's with other widths: the same bits as from the options that ask for it.
TYPED_TEST(SolverOf, executes_a_recipe_that_is_given) {
  using T = TypeParam;
  constexpr std::int64_t n = 100;
  const Matrix<T> A = random_elements<T>(n, n, 1), B = random_elements<T>(n, 1, 9);
  Options o = this->by_lu();
  Queue<Cpu> q(3);
  const GemmBackend<Cpu>& backend = some_backend<Cpu>();
  const Given<T, Cpu> given(A.view());
  Recipe by = resolve(o, problem_of(given), means_of(backend, o, q.tuning(), false)).first();
  by.widths.panel = 7, by.schedule = Schedule::crout;
  Solver<T, Cpu> solver(q, backend, Given<T, Cpu>(A.view()), Recipes(by), o, Facts{});
  Matrix<T> X(n, 1), Y(n, 1);
  Resolved decided;
  const RecipeWatch watch({decided});
  solver.factor();
  const Report report = solver.solve(B.view(), X.view(), Op::none);
  EXPECT_EQ(report.block_size, 7);
  EXPECT_EQ(text_of(decided.recipes.first()), text_of(by));
  EXPECT_TRUE(decided.solve.has_value());
  o.block_size = 7, o.schedule = Schedule::crout;
  this->solve(A, B, Y, o);
  EXPECT_TRUE(std::equal(X.data(), X.data() + n, Y.data()));
}

TYPED_TEST(SolverOf, checks_what_it_solves_and_estimates_the_condition) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 3, 40, 131})
    for (const Op op : ops) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", op " << int(op));
      const Matrix<T> A = random_elements<T>(n, n, unsigned(n)), B = random_elements<T>(n, 2, 9);
      Matrix<T> X(n, 2);
      const Report report = this->solve(A, B, X, this->by_lu(), op);
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      const double hpl = hpl_residual<T>(op, A.view(), X.view(), B.view());
      EXPECT_LT(hpl, hpl_threshold);
      EXPECT_LT(*report.hpl_residual, 2 * hpl + 1);
      EXPECT_GT(*report.hpl_residual, hpl / 2 - 1);
      const Wide<T> a = wide<T>(A.view()), inverse = a.inverse();
      const auto one_norm = [](const Wide<T>& of) { return infinity_norm(Wide<T>(of.transpose())); };
      const double rcond = 1 / (one_norm(a) * one_norm(inverse));
      EXPECT_LT(*report.rcond, 3 * rcond);
      EXPECT_GT(*report.rcond, rcond / 2.1);
      const Wide<T> exact = applied(op, inverse).lazyProduct(wide<T>(B.view())), error = exact - wide<T>(X.view());
      ASSERT_TRUE(report.forward_error_bound.has_value());
      for (std::int64_t j = 0; j < 2; ++j)
        EXPECT_LE(double(error.col(j).cwiseAbs().maxCoeff() / exact.col(j).cwiseAbs().maxCoeff()),
                  *report.forward_error_bound);
    }
}

TYPED_TEST(SolverOf, refines_what_coarser_factors_give) {
  using T = TypeParam;
  for (const Refine how : {Refine::classical, Refine::gmres})
    for (const Op op : ops) {
      SCOPED_TRACE(testing::Message() << "refine " << int(how) << ", op " << int(op));
      constexpr std::int64_t n = 97;
      const Matrix<T> A = random_elements<T>(n, n, 4), B = random_elements<T>(n, 3, 9);
      Matrix<T> X(n, 3);
      Options options = this->by_lu(Precision::fp32);
      options.refine = how;
      const Report report = this->solve(A, B, X, options, op);
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      EXPECT_EQ(report.precision, Precision::fp32);
      EXPECT_LT(hpl_residual<T>(op, A.view(), X.view(), B.view()), hpl_threshold);
      EXPECT_EQ(report.gmres_steps > 0, how == Refine::gmres && sizeof(real_of<T>) == 8);
    }
}

TYPED_TEST(SolverOf, leaves_complex_matrices_to_methods_that_are_not_for_symmetric_ones) {
  using T = TypeParam;
  Matrix<T> A = random_elements<T>(9, 9, 3), X(9, 1);
  const Matrix<T> B = random_elements<T>(9, 1, 9);
  for (std::int64_t j = 0; j < 9; ++j)
    for (std::int64_t i = 0; i <= j; ++i) A(i, j) = i == j ? T(20) : conjugate(A(j, i));
  Options options;
  const Report report = this->solve(A, B, X, options);
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_EQ(report.method, ComplexElement<T> ? Method::lu : Method::cholesky);
  options.factorization = Method::cholesky;
  if (ComplexElement<T>)
    EXPECT_THROW(this->solve(A, B, X, options), std::invalid_argument);
  else
    EXPECT_TRUE(this->solve(A, B, X, options).outcome.ok());
}

TYPED_TEST(SolverOf, says_what_has_no_solution_to_trust) {
  using T = TypeParam;
  constexpr std::int64_t n = 50;
  Matrix<T> A = random_elements<T>(n, n, 6), X(n, 1);
  const Matrix<T> B = random_elements<T>(n, 1, 9);
  for (std::int64_t i = 0; i < n; ++i)
    A(i, 20) = A(i, 7) + T(real_of<T>(unit_roundoff_of(precision_of<T>) / 64)) * A(i, 30);
  EXPECT_EQ(this->solve(A, B, X, this->by_lu()).outcome.kind, Outcome::ill_conditioned);
  for (std::int64_t i = 0; i < n; ++i) A(i, 20) = T(0);
  const Report report = this->solve(A, B, X, this->by_lu());
  EXPECT_EQ(report.outcome.kind, Outcome::singular);
  EXPECT_EQ(report.outcome.at, 20);
  EXPECT_TRUE(std::isnan(std::real(X(3, 0))));
}

template <class T>
using ProductsOf = FactorsOf<T>;
TYPED_TEST_SUITE(ProductsOf, Elements);

TYPED_TEST(ProductsOf, integers_are_exact_by_each_backend_and_write_over_nan) {
  using T = TypeParam;
  constexpr auto nan = std::numeric_limits<real_of<T>>::quiet_NaN();
  for (const GemmBackend<Cpu>* backend : backends_here<Cpu>()) {
    const Gemm<T, Cpu> gemm(*backend);
    if (!gemm) continue;
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {7, 5, 0}, {33, 70, 40}})
      for (const Op a : ops)
        for (const Op b : ops) {
          SCOPED_TRACE(testing::Message() << backend->name << ", m = " << m << ", ops " << int(a) << int(b));
          const Matrix<T> A = a == Op::none ? random_elements<T>(m, k, 1, true) : random_elements<T>(k, m, 1, true);
          const Matrix<T> B = b == Op::none ? random_elements<T>(k, n, 2, true) : random_elements<T>(n, k, 2, true);
          Matrix<T> C = random_elements<T>(m, n, 3, true), over(m, n);
          as_eigen(over.view()).setConstant(T(nan));
          const Dense<T> a_of_op = applied(a, Dense<T>(as_eigen(A.view()))),
                         b_of_op = applied(b, Dense<T>(as_eigen(B.view()))), product = a_of_op.lazyProduct(b_of_op);
          const Dense<T> expected = as_eigen(C.view()) - product;
          gemm(this->q, T(-1), {A.view(), a}, {B.view(), b}, T(1), C.view());
          gemm(this->q, T(2), {A.view(), a}, {B.view(), b}, T(0), over.view());
          EXPECT_TRUE(as_eigen(C.view()) == expected);
          EXPECT_TRUE(as_eigen(over.view()) == T(2) * product);
        }
  }
}

}  // namespace
}  // namespace lasolve::test::elements_test
