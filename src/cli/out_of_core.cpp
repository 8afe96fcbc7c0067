#include "cli/out_of_core.hpp"

#include <algorithm>

#include "bench/roof.hpp"
#include "core/current_device.hpp"
#include "core/stopwatch.hpp"
#include "core/transfer.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

namespace {

/// Bytes a second from the host to a device: the best of a few copies, after one that makes what it needs.
double rate_of_copies(int device) {
  constexpr std::int64_t rows = 1 << 20, columns = 32;
  Queue<Cuda> q(device);
  const CurrentDevice current(q);
  Matrix<double> from(rows, columns);
  std::fill_n(from.data(), from.ld() * columns, 0.5);
  Matrix<double, Cuda> to(rows, columns);
  double least = 1e9;
  for (int run = 0; run < 4; ++run) {
    const Stopwatch watch;
    copy<double>(q, from.view(), to.view());
    q.finish();
    if (run > 0) least = std::min(least, watch.seconds());
  }
  return double(from.bytes()) / least;
}

}  // namespace

double seconds_out_of_core(const Options& options, const Choice& choice, const lasolve::Problem& problem) {
  constexpr double least_flops = 2e13;  // below that it takes a moment
  const auto* const on_cuda = std::get_if<const GemmBackend<Cuda>*>(&choice.backend);
  if (!on_cuda || !goes_out_of_core(options, choice, problem)) return 0;
  const GemmBackend<Cuda>& backend = **on_cuda;
  const Tuning tuning = tuning_of(choice.device());
  Means means = means_of(backend, options, tuning, false);
  means.device_bytes = bytes_of_device(options, choice, problem);
  const Recipe by = resolve(options, problem, means).first();
  const double flops = record_of(by.method).flops(double(problem.n));
  if (flops < least_flops) return 0;
  const auto roof = bench::roof_of(choice.device(), by.precision.products, options.threads);
  if (!roof) return 0;
  const double n = double(problem.n), w = double(by.out_of_core.columns);
  constexpr double of_panels = 1.2;  // what panels of w of n columns take longer, as measured
  const double computing = flops / roof->flops_per_second * (1 + of_panels * w / n);
  const double travelled = n * n * (n / w / 3) * bytes_of(by.precision.storage) + n * n * bytes_of(problem.element);
  return std::max(computing, travelled / rate_of_copies(choice.cuda_device));
}

}  // namespace lasolve::cli
