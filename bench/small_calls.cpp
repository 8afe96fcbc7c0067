// What a call costs where the system is small: microseconds of one solve(A, B, X), with the defaults of the library, beside
// LAPACK's dgesv (OpenBLAS, on one thread, given a copy of A, which it overwrites).   small_calls [--calls 100000] [--n 4,16,64]
//
// Each contestant makes all of its calls for a size in ten rounds, in turns; medians of the rounds are printed.
#ifdef LASOLVE_HAS_OPENBLAS
#include <cblas.h>
#include <f77blas.h>
#endif
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/product.hpp"
#include "bench/turns.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

namespace {

/// A system, and one call that solves it.
struct System {
  std::int64_t n;
  std::vector<double> A, b, x;

  explicit System(std::int64_t n) : n(n), A(std::size_t(n * n)), b(std::size_t(n)), x(std::size_t(n)) {
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
  std::function<void(System&)> call;
};

void solve_at_once(System& system, const Options& options) {
  const Report report = solve(system.matrix(), system.right_side(), system.solution(), options);
  require(report.outcome.ok(), "a system was not solved");
}

/// The right-hand sides of a factorization that is there.
Caller with_factors_of(System& system) {
  const auto factors = std::make_shared<Factorization<double>>(system.matrix());
  return {"lasolve, factored before", [factors](System& s) { factors->solve(s.right_side(), s.solution()); }};
}

Caller without_a_check() {
  Options options;
  options.check = false;
  return {"lasolve, without a check", [options](System& s) { solve_at_once(s, options); }};
}

#ifdef LASOLVE_HAS_OPENBLAS
Caller dgesv() {
  openblas_set_num_threads(1);
  return {"LAPACK's dgesv", [factors = std::vector<double>(), pivots = std::vector<blasint>()](System& s) mutable {
            factors = s.A;
            s.x = s.b;
            pivots.resize(std::size_t(s.n));
            blasint n = blasint(s.n), one = 1, info = 0;
            dgesv_(&n, &one, factors.data(), &n, pivots.data(), s.x.data(), &n, &info);
            require(info == 0, "a system was not solved");
          }};
}
#endif

void compete(std::int64_t n, std::int64_t calls) {
  constexpr int rounds = 10;
  System system(n);
  std::vector<Caller> all = {
      {"lasolve", [](System& s) { solve_at_once(s, {}); }}, without_a_check(), with_factors_of(system)};
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
    fmt::print("{:>6}  {:<26}{:>9.3f} µs a call   {:>9.3f} to {:.3f}\n", n, all[c].name, median * microseconds,
               least * microseconds, most * microseconds);
  }
  std::cout << std::flush;
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::int64_t calls = 0;
  std::string sizes;
  po::options_description known("small_calls");
  known.add_options()("help", "print this")("calls", po::value(&calls)->default_value(100000),
                                            "of each, for each size")("n", po::value(&sizes)->default_value("4,16,64"),
                                                                      "sizes");
  po::variables_map values;
  po::store(po::parse_command_line(argc, argv, known), values);
  po::notify(values);
  if (values.count("help")) {
    std::cout << known;
    return 0;
  }
  std::istringstream list(sizes);
  for (std::string n; std::getline(list, n, ',');) compete(std::stoll(n), calls);
  return 0;
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) {
  try {
    return lasolve::bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "small_calls: " << e.what() << "\n";
    return 1;
  }
}
