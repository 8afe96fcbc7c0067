// The program around the library has an OpenMP and an OpenBLAS of its own: their settings stay as they are.
#include <cblas.h>
#include <omp.h>

#include <atomic>
#include <future>
#include <thread>

#include "baseline_solvers/baseline_solvers.hpp"
#include "core/choose.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

Options on_the_cpu() {
  Options o;
  o.device.kind = Device::cpu;
  return o;
}

TEST(Settings, of_the_program_are_as_they_were_also_meanwhile_and_for_other_threads) {
  openblas_set_num_threads(3);
  omp_set_num_threads(5);
  std::atomic<bool> done = false;
  std::atomic<int> checks = 0, changes = 0;
  std::jthread watch([&] {
    omp_set_num_threads(7);
    while (!done) {
      changes += openblas_get_num_threads() != 3 || omp_get_max_threads() != 7;
      ++checks;
    }
  });
  const Matrix<double> A = random_with_condition(400, 10, false), B = right_hand_sides<double>({A.view(), Op::none}, 3);
  for (const auto* backend : gemm_backends<Cpu>()) {
    Options o;
    o.gemm = backend;
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    const int before = checks;
    while (checks == before) std::this_thread::yield();
    expect_solved(solve_for(A, B, o));
    EXPECT_EQ(openblas_get_num_threads(), 3) << backend->name;
    EXPECT_EQ(omp_get_max_threads(), 5) << backend->name;
  }
  done = true;
  watch.join();
  EXPECT_EQ(changes, 0);
}

TEST(Settings, of_OpenMP_are_as_they_were_after_solvers_of_others) {
  const Matrix<double> A = dominant_matrix(300), B = random_matrix(300, 1);
  Matrix<double> X(300, 1);
  const auto of_a_new_thread = [] { return std::async(std::launch::async, omp_get_max_threads).get(); };
  const int before = of_a_new_thread();
  omp_set_num_threads(5);
  for (const baseline_solvers::Library& library : baseline_solvers::all()) {
    if (library.on_cuda || !baseline_solvers::why_unavailable(library).empty()) continue;
    for (const Method method : {Method::lu, Method::cholesky}) {
      baseline_solvers::solve<double>(library, {A, B, X}, method, 2);
      EXPECT_EQ(omp_get_max_threads(), 5) << library.name;
      EXPECT_EQ(of_a_new_thread(), before) << library.name;
    }
  }
}

TEST(Settings, of_two_OpenBLAS_in_a_process_do_not_meet) {
  const Matrix<double> A = random_matrix(200, 200), B = random_matrix(200, 200);
  Matrix<double> C(200, 200), D(200, 200);
  const auto* const blas = std::get<const GemmBackend<Cpu>*>(choose(on_the_cpu()).backend);
  Queue<Cpu> q(2);
  for (int i = 0; i < 20; ++i) {
    (*blas)(q, 1.0, A.view(), B.view(), 0.0, C.view());
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 200, 200, 200, 1.0, A.data(), int(A.ld()), B.data(),
                int(B.ld()), 0.0, D.data(), int(D.ld()));
  }
  for (std::int64_t j = 0; j < 200; ++j)
    for (std::int64_t i = 0; i < 200; ++i) ASSERT_NEAR(C(i, j), D(i, j), 1e-12);
}

}  // namespace
}  // namespace lasolve::test
