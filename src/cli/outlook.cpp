#include "cli/outlook.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/kernels.hpp"
#include "cli/progress.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "core/sizes.hpp"
#include "core/stopwatch.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

namespace {

constexpr double long_seconds = 10;
constexpr double least_flops = 1e11;  // that may take so long; below it nothing is measured

/// Of a product that has the shape of an update and takes some milliseconds: the faster of two, after one that makes what it needs.
template <class T>
double flops_a_second(const GemmBackend<Cpu>& gemm, int threads) {
  constexpr std::int64_t n = 512, k = 128;
  const auto filled = [](std::int64_t rows, std::int64_t cols) {
    Matrix<T> M(rows, cols);
    std::fill_n(M.data(), M.ld() * cols, T(0.5));
    return M;
  };
  const Matrix<T> A = filled(n, k), B = filled(k, n);
  Matrix<T> C = filled(n, n);
  Queue<Cpu> q(threads);
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const Stopwatch watch;
    gemm(q, T(-1), A.view(), B.view(), T(1), C.view());
    if (run > 0) least = std::min(least, watch.seconds());
  }
  return 2.0 * double(n) * double(n) * double(k) / least;
}

/// Of the factorizations with a backend; 0 where nobody knows.
double expected_seconds(const Request& request, const Problem& problem, const std::string& backend) {
  constexpr double beside_products = 1.25;  // panels and what else is no product, as a share of the whole
  if (is_plugin(backend)) return 0;         // it may not come back, and nobody watches here
  Options options = request.options;
  options.gemm = backend;
  const Choice choice = choose(options);
  const Precision products = request.products_in();
  if (choice.backend.index() != 0 || (products != Precision::fp64 && products != Precision::fp32)) return 0;
  const double n = double(problem.n()), runs = request.repeat + request.warmup;
  const double flops = runs * beside_products * record_of(problem.method_for(options)).flops(n);
  if (flops < least_flops) return 0;
  const GemmBackend<Cpu>& gemm = *std::get<0>(choice.backend);
  return flops / (products == Precision::fp64 ? flops_a_second<double>(gemm, options.threads)
                                              : flops_a_second<float>(gemm, options.threads));
}

}  // namespace

std::string outlook(const Request& request, const Problem& problem) {
  const double bytes = double(problem.n()) * double(problem.n()) *
                       (request.in_place ? 8 : 8 + bytes_of(solve_precision_of(request.options).storage));
  if (bytes > double(Memory<Cpu>::available(std::size_t(std::min(bytes, 1e18))))) return "";  // it will be refused
  double seconds = 0;
  for (const std::string& backend : request.backends) seconds += expected_seconds(request, problem, backend);
  if (seconds < long_seconds) return "";
  const std::string advice = problem.advice().empty() ? "" : "; " + problem.advice();
  return fmt::format("solving takes about {}, as far as the rate of a small product tells, and {} of memory{}",
                     duration(seconds), in_bytes(bytes), advice);
}

}  // namespace lasolve::cli
