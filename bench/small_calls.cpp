// What a call costs where the system is small: microseconds, with one right-hand side.
//
//   small_calls [--device cpu|cuda] [--calls 100000] [--n 4,16,64] [--gemm NAME]
//
// On the CPU beside LAPACK's dgesv (OpenBLAS, on one thread, given a copy of A, which it overwrites; LAPACKE's looks for NaN first).
// On CUDA the whole calls of `peers --whole-call`, from device memory to device memory, beside cuSOLVER.
//
// Bare means that method and backend are named, and nothing is checked. Each contestant makes all of its calls for a size in many
// rounds, in turns; medians of the rounds are printed, and the least and the most.
#ifdef LASOLVE_HAS_OPENBLAS
#include <cblas.h>
#include <f77blas.h>
#endif
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/product.hpp"
#include "bench/program.hpp"
#include "bench/turns.hpp"
#include "bench/whole_call.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

namespace {

constexpr int rounds = 50;

/// A system, and one call that solves it.
struct SmallSystem {
  std::int64_t n;
  std::vector<double> A, b, x;

  explicit SmallSystem(std::int64_t n) : n(n), A(std::size_t(n * n)), b(std::size_t(n)), x(std::size_t(n)) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> entry(-1, 1);
    for (double& a : A) a = entry(random);
    for (double& entry_of_b : b) entry_of_b = entry(random);
  }
  MatrixView<const double> matrix() const { return {A.data(), n, n, n}; }
  MatrixView<const double> right_side() const { return {b.data(), n, 1, n}; }
  MatrixView<double> solution() { return {x.data(), n, 1, n}; }
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
Options bare(const std::string& backend) {
  Options options = defaults();
  options.gemm = backend;
  options.factorization = Method::lu;
  options.refine = Refine::none;
  options.check = false;
  return options;
}

void require_solved(const Report& report) { require(report.outcome.ok(), "a system was not solved"); }

Caller factor_and_solve(const std::string& how, const Options& options) {
  return {"Factorization + solve, " + how, [options](SmallSystem& s) {
            Factorization<double> factors(s.matrix(), options);
            require_solved(factors.solve(s.right_side(), s.solution()));
          }};
}
Caller solve_at_once(const std::string& how, const Options& options) {
  return {"solve(), " + how,
          [options](SmallSystem& s) { require_solved(solve(s.matrix(), s.right_side(), s.solution(), options)); }};
}

/// The right-hand sides of a factorization that is there.
Caller with_factors_of(SmallSystem& system) {
  const auto factors = std::make_shared<Factorization<double>>(system.matrix(), defaults());
  return {"factored before, defaults", [factors](SmallSystem& s) { factors->solve(s.right_side(), s.solution()); }};
}

#ifdef LASOLVE_HAS_OPENBLAS
Caller dgesv() {
  openblas_set_num_threads(1);
  return {"LAPACK's dgesv", [factors = std::vector<double>(), pivots = std::vector<blasint>()](SmallSystem& s) mutable {
            factors = s.A;
            s.x = s.b;
            pivots.resize(std::size_t(s.n));
            blasint n = blasint(s.n), one = 1, info = 0;
            dgesv_(&n, &one, factors.data(), &n, pivots.data(), s.x.data(), &n, &info);
            require(info == 0, "a system was not solved");
          }};
}
#endif

void compete(std::int64_t n, std::int64_t calls, const std::string& backend) {
  SmallSystem system(n);
  std::vector<Caller> all = {factor_and_solve("bare", bare(backend)), factor_and_solve("defaults", defaults()),
                             solve_at_once("bare", bare(backend)), solve_at_once("defaults", defaults()),
                             with_factors_of(system)};
#ifdef LASOLVE_HAS_OPENBLAS
  all.push_back(dgesv());
#endif
  const std::int64_t each = std::max<std::int64_t>(1, calls / rounds);
  const auto seconds = time_in_turns({1, rounds, {}}, all.size(), [&](std::size_t c, bool) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < each; ++i) all[c].call(system);
    return watch.seconds();
  });
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto [least, median, most] = spread_of(seconds[c]);
    const double microseconds = 1e6 / double(each);
    fmt::print("{:>6}  {:<34}{:>9.3f} µs a call   {:>9.3f} to {:.3f}\n", n, all[c].name, median * microseconds,
               least * microseconds, most * microseconds);
  }
  std::cout << std::flush;
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::int64_t calls = 0;
  std::string device, sizes, backend;
  po::options_description known("small_calls");
  known.add_options()("device", po::value(&device)->default_value("cpu"), "cpu or cuda")(
      "calls", po::value(&calls)->default_value(100000), "of each, for each size")(
      "n", po::value(&sizes)->default_value("4,16,64"), "sizes")("gemm", po::value(&backend),
                                                                 "the backend of bare calls: default blas or cublas");
  return run_program("small_calls", known, argc, argv, [&](const po::variables_map&) {
    const bool cuda = device == "cuda";
    require(cuda || device == "cpu", "the device is cpu or cuda");
    require(calls > 0, "the calls are at least one");
    if (backend.empty()) backend = cuda ? "cublas" : "blas";
    std::istringstream list(sizes);
    for (std::string word; std::getline(list, word, ',');) {
      const std::int64_t n = std::stoll(word);
      nlohmann::ordered_json results;
      if (cuda)
        whole_calls<double>({{n}, {1}, {Method::lu}, backend, rounds, false, calls}, results);
      else
        compete(n, calls, backend);
    }
  });
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) { return lasolve::bench::run(argc, argv); }
