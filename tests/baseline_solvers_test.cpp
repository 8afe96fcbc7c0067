// Solvers of others.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iterator>

#include "baseline_solvers/baseline_solvers.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

using baseline_solvers::Library;

/// Empty: it can.
std::string why_it_cannot_run(const Library& library) {
  const std::string why = library.on_cuda ? why_no_cuda_device(0) : "";
  return why.empty() ? baseline_solvers::why_unavailable(library) : why;
}

template <class T>
struct BaselineSolvers : testing::Test {
  Matrix<T> A = dominant_matrix<T>(60), B = random_matrix<T>(60, 2), X = random_matrix<T>(60, 2);

  baseline_solvers::System<T> system() { return {A, B, X}; }
  double error() { return baseline_solvers::backward_error(system()) / unit_roundoff<T>; }
};
constexpr double small = 60, large = 1e4;  // errors
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BaselineSolvers, Types);

TYPED_TEST(BaselineSolvers, solve) {
  for (const Library& library : baseline_solvers::all()) {
    if (!why_it_cannot_run(library).empty()) continue;
    for (const Method method : {Method::lu, Method::cholesky}) {
      this->X = random_matrix<TypeParam>(60, 2);
      EXPECT_GT(this->error(), large) << "nothing is solved yet";
      const baseline_solvers::Seconds seconds = baseline_solvers::solve(library, this->system(), method, 2);
      EXPECT_LT(this->error(), small) << library.name;
      EXPECT_GT(seconds.factor, 0) << library.name;
      EXPECT_GT(seconds.whole, seconds.factor) << library.name;
      EXPECT_GT(baseline_solvers::solve<TypeParam>(library, {this->A.view(), {}, {}}, method, 2).factor, 0)
          << library.name;
    }
  }
  this->X(3, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_TRUE(std::isnan(this->error()));
}

TYPED_TEST(BaselineSolvers, say_what_they_cannot_factor) {
  this->A(3, 3) = -1;
  for (const Library& library : baseline_solvers::all()) {
    if (!why_it_cannot_run(library).empty()) continue;
    EXPECT_THROW(baseline_solvers::solve(library, this->system(), Method::cholesky, 2), std::runtime_error)
        << library.name;
    baseline_solvers::solve(library, this->system(), Method::lu, 2);
    EXPECT_LT(this->error(), small) << library.name;
  }
}

TYPED_TEST(BaselineSolvers, of_the_host_solve_again_and_again) {
  for (const Library& library : baseline_solvers::all()) {
    if (library.on_cuda || !why_it_cannot_run(library).empty()) continue;
    for (const Method method : {Method::lu, Method::cholesky}) {
      Queue<Cpu> q(2);
      const auto solver = library.template solver<TypeParam>(q, 60, method);
      for (int i = 0; i < 2; ++i) {
        solver->copy(this->A, solver->matrix());
        solver->copy(this->B, this->X);
        solver->factor_and_solve(this->X);
        EXPECT_TRUE(solver->finish()) << library.name;
        EXPECT_LT(this->error(), small) << library.name;
      }
    }
  }
}

std::int64_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(EigenAsABaselineSolver, runs_on_several_threads_where_it_says_nothing_else) {
  const Library eigen = baseline_solvers::eigen();
  if (!why_it_cannot_run(eigen).empty()) GTEST_SKIP() << why_it_cannot_run(eigen);
  constexpr int wanted = 4;
  const Matrix<double> A = random_matrix(300, 300), B = random_matrix(300, 1);
  Matrix<double> X(300, 1);
  if (Queue<Cpu>(wanted).threads() < wanted) GTEST_SKIP() << "threads are limited here";
  baseline_solvers::solve<double>(eigen, {A, B, X}, Method::lu, 1);
  const std::int64_t before = threads_of_this_process();
  baseline_solvers::solve<double>(eigen, {A, B, X}, Method::lu, wanted);
  if (eigen.note(Method::lu).empty())  // those of OpenMP stay
    EXPECT_GT(threads_of_this_process(), before);
  else
    EXPECT_EQ(threads_of_this_process(), before);
}

}  // namespace
}  // namespace lasolve::test
