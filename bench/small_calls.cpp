// What a call costs where the system is small: microseconds.
//
//   small_calls [--device cpu|cuda] [--calls 100000] [--n 4,16,64] [--nrhs 1] [--method lu|cholesky] [--gemm NAME]
//
// On the CPU beside LAPACK's dgesv, or dpotrf and dpotrs (OpenBLAS, on one thread, given a copy of A, which they overwrite; LAPACKE's look for NaN
// first).
// On CUDA the whole calls of `baseline_solvers --whole-call`, from device memory to device memory, beside cuSOLVER.
//
// Bare means that method and backend are named, and nothing is checked. Each contestant makes all of its calls for a size in many
// rounds, in turns; medians of the rounds are printed, and the least and the most.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "baseline_solvers/baseline_solvers.hpp"
#include "bench/product.hpp"
#include "bench/program.hpp"
#include "bench/turns.hpp"
#include "bench/whole_call.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

namespace {

constexpr int rounds = 50;

/// A random system, which Cholesky solves where it is symmetric and diagonally dominant.
struct SmallSystem {
  Method method;
  std::int64_t n, nrhs;
  std::vector<double> A, B, X;

  SmallSystem(Method method, std::int64_t n, std::int64_t nrhs)
      : method(method), n(n), nrhs(nrhs), A(std::size_t(n * n)), B(std::size_t(n * nrhs)), X(B.size()) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> entry(-1, 1);
    for (double& a : A) a = entry(random);
    for (double& b : B) b = entry(random);
    for (std::int64_t j = 0; method == Method::cholesky && j < n; ++j) {
      A[std::size_t(j + j * n)] = double(n);
      for (std::int64_t i = 0; i < j; ++i) A[std::size_t(j + i * n)] = A[std::size_t(i + j * n)];
    }
  }
  MatrixView<const double> matrix() const { return {A.data(), n, n, n}; }
  MatrixView<const double> rhs() const { return {B.data(), n, nrhs, n}; }
  MatrixView<double> solution() { return {X.data(), n, nrhs, n}; }
};

struct Caller {
  std::string name;
  std::function<void(SmallSystem&)> call;
};

/// The library's defaults, on the CPU.
Options defaults() {
  Options options;
  options.device = {Device::cpu, 0};
  return options;
}
Options bare(const std::string& backend, Method method) {
  Options options = defaults();
  options.gemm = backend;
  options.factorization = method;
  options.refine = Refine::none;
  options.check = false;
  return options;
}

void require_solved(const Report& report) { require(report.outcome.ok(), "a system was not solved"); }

Caller factor_and_solve(const std::string& how, const Options& options) {
  return {"Factorization + solve, " + how, [options](SmallSystem& s) {
            Factorization<double> factors(s.matrix(), options);
            require_solved(factors.solve(s.rhs(), s.solution()));
          }};
}
Caller solve_at_once(const std::string& how, const Options& options) {
  return {"solve(), " + how,
          [options](SmallSystem& s) { require_solved(solve(s.matrix(), s.rhs(), s.solution(), options)); }};
}

/// The right-hand sides of a factorization that is there.
Caller with_factors_of(SmallSystem& system) {
  const auto factors = std::make_shared<Factorization<double>>(system.matrix(), defaults());
  return {"factored before, defaults", [factors](SmallSystem& s) { (void)factors->solve(s.rhs(), s.solution()); }};
}

/// Of OpenBLAS, on one thread; nothing where it cannot run. Views are made beforehand, as LAPACK is given pointers.
std::optional<Caller> of_lapack(SmallSystem& system) {
  struct Kept {
    Queue<Cpu> q{1};
    std::unique_ptr<baseline_solvers::Solver<double, Cpu>> solver;
    MatrixView<const double> A, B;
    MatrixView<double> factors, X;
  };
  static const baseline_solvers::Library openblas = baseline_solvers::openblas();
  if (!baseline_solvers::why_unavailable(openblas).empty()) return {};
  const auto kept = std::make_shared<Kept>();
  kept->solver = openblas.solver<double>(kept->q, system.n, system.method);
  kept->A = system.matrix(), kept->B = system.rhs();
  kept->factors = kept->solver->matrix(), kept->X = system.solution();
  return Caller{system.method == Method::lu ? "LAPACK's dgesv" : "LAPACK's dpotrf and dpotrs", [kept](SmallSystem&) {
                  const auto& [q, solver, A, B, factors, X] = *kept;
                  solver->copy(A, factors);
                  solver->copy(B, X);
                  solver->factor_and_solve(X);
                  require(solver->finish(), "a system was not solved");
                }};
}

void compete(SmallSystem&& system, std::int64_t calls, const std::string& backend) {
  const Options named = bare(backend, system.method);
  std::vector<Caller> all = {factor_and_solve("bare", named), factor_and_solve("defaults", defaults()),
                             solve_at_once("bare", named), solve_at_once("defaults", defaults()),
                             with_factors_of(system)};
  if (auto lapack = of_lapack(system)) all.push_back(std::move(*lapack));
  const std::int64_t each = std::max<std::int64_t>(1, calls / rounds);
  const auto seconds = time_in_turns({1, rounds, {}}, all.size(), [&](std::size_t c, bool) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < each; ++i) all[c].call(system);
    return watch.seconds();
  });
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto [least, median, most] = spread_of(seconds[c]);
    const double microseconds = 1e6 / double(each);
    fmt::print("{:>6}  {:<34}{:>9.3f} µs a call   {:>9.3f} to {:.3f}\n", system.n, all[c].name, median * microseconds,
               least * microseconds, most * microseconds);
  }
  std::cout << std::flush;
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::int64_t calls = 0, nrhs = 0;
  std::string device, sizes, method, backend;
  po::options_description known("small_calls");
  known.add_options()("device", po::value(&device)->default_value("cpu"), "cpu or cuda")(
      "calls", po::value(&calls)->default_value(100000), "of each, for each size")(
      "n", po::value(&sizes)->default_value("4,16,64"), "sizes")(
      "nrhs", po::value(&nrhs)->default_value(1), "right-hand sides")("method", po::value(&method)->default_value("lu"),
                                                                      "lu or cholesky")(
      "gemm", po::value(&backend), "the backend of bare calls: default blas or cublas");
  return run_program("small_calls", known, argc, argv, [&](const po::variables_map&) {
    const bool cuda = named<Device::Kind>(device) == Device::cuda;
    const auto by = named<Method>(method);
    require(by != Method::automatic, "the method is lu or cholesky");
    require(calls > 0 && nrhs > 0, "calls and right-hand sides are at least one");
    if (backend.empty()) backend = cuda ? "cublas" : "blas";
    for (const std::int64_t n : numbers(sizes)) {
      nlohmann::ordered_json results;
      if (cuda)
        whole_calls<double>({{n}, {nrhs}, {by}, backend, rounds, false, false, calls}, results);
      else
        compete({by, n, nrhs}, calls, backend);
    }
  });
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) { return lasolve::bench::run(argc, argv); }
