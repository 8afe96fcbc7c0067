// What it costs to measure: a solve as a program makes it, beside one whose tasks and progress are heard of, as in lasolve compare.
//   measuring [--n 256,1000,2000] [--rounds 40] [--threads 1]
// In turns, on the CPU; of the times of the clock, and of those that the processor worked, which other programs disturb less.
#include <fmt/format.h>
#include <time.h>

#include <iostream>
#include <random>
#include <sstream>
#include <vector>

#include "bench/clock_watch.hpp"
#include "bench/program.hpp"
#include "bench/turns.hpp"
#include "compare/listener.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::bench {

namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

struct System {
  Matrix<double> A, B, X;
  explicit System(std::int64_t n) : A(n, n), B(n, 1), X(n, 1) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> entry(-1, 1);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) A(i, j) = entry(random);
    for (std::int64_t i = 0; i < n; ++i) B(i, 0) = entry(random);
  }
  /// Seconds of the clock, and of the processor.
  struct Times {
    double wall = 0, processor = 0;
  };
  Times solve(const Options& options) {
    const Stopwatch watch;
    const double before = processor_seconds();
    const Report report = lasolve::solve(A.view(), B.view(), X.view(), options);
    const Times times{watch.seconds(), processor_seconds() - before};
    require(report.outcome.ok(), "a system was not solved");
    return times;
  }
};

/// With the number of tasks that were heard of.
System::Times solve_and_listen(System& system, Options options, std::size_t& tasks) {
  double share = 0;
  options.progress = [&](double done) { share = done; };
  const ClockWatch clock;
  compare::Listener listener;
  const System::Times times = system.solve(options);
  require(!clock.changed() && share > 0, "nothing was heard");
  tasks = listener.take().size();
  return times;
}

void compete(std::int64_t n, int rounds, int threads) {
  System system(n);
  Options options;
  options.device.kind = Device::cpu, options.threads = threads;
  std::vector<double> worked[2];
  std::size_t tasks = 0;
  const auto seconds =
      time_in_turns({.warmup = 1, .rounds = rounds}, 2, [&](std::size_t listens, bool counts) -> std::optional<double> {
        const System::Times took = listens ? solve_and_listen(system, options, tasks) : system.solve(options);
        if (counts) worked[listens].push_back(took.processor);
        return took.wall;
      });
  const auto cost = [](const std::vector<double>& plain, const std::vector<double>& heard) {
    const Change c = change_between(plain, heard);
    return fmt::format("{:+.2f} % ({:+.2f} .. {:+.2f})", 100 * c.shift, 100 * c.low, 100 * c.high);
  };
  fmt::print("{:>6}{:>12.3f} ms{:>8} tasks   wall {:<28}   processor {}\n", n, 1e3 * spread_of(seconds[0]).median,
             tasks, cost(seconds[0], seconds[1]), cost(worked[0], worked[1]));
  std::cout << std::flush;
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::string sizes;
  int rounds = 0, threads = 0;
  po::options_description known("measuring");
  known.add_options()("n", po::value(&sizes)->default_value("256,1000,2000"), "sizes")(
      "rounds", po::value(&rounds)->default_value(40), "of each")("threads", po::value(&threads)->default_value(1),
                                                                  "cores of the host to use");
  return run_program("measuring", known, argc, argv, [&](const po::variables_map&) {
    std::istringstream list(sizes);
    for (std::string n; std::getline(list, n, ',');) compete(std::stoll(n), rounds, threads);
  });
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) { return lasolve::bench::run(argc, argv); }
