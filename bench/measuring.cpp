// What it costs to measure: a solve as a program makes it, beside the same solve as lasolve compare times it.
//   measuring [--device cpu] [--n 1000,2000,4000] [--gemm auto] [--rounds 40] [--threads 1]
// In turns, A where compare has it, generated on the device, and with other signs in each run, as compare gives it. Of the times of the clock; on the CPU also of those that the processor
// worked, which other programs disturb less.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <vector>

#include "bench/program.hpp"
#include "bench/signs.hpp"
#include "bench/throttle.hpp"
#include "bench/turns.hpp"
#include "compare/timed.hpp"
#include "core/choose.hpp"
#include "core/current_device.hpp"
#include "core/stopwatch.hpp"
#include "io/generators.hpp"
#include "lasolve/names.hpp"

namespace lasolve::bench {

namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// As whom a solve is made.
struct Way {
  const char* name;
  bool is_timed = false;  // by compare
  compare::Recording recording{compare::Recording::none};
  bool hears_progress = false;  // as of runs that take more than a second
};

/// Seconds of the clock and of the processor, around the solve alone; and what was heard of it.
struct Times {
  double wall = 0, processor = 0;
  std::size_t tasks = 0;
};

template <class Space>
class System {
 public:
  System(int queue, std::int64_t n) : queue_(queue), A_(n, n), B_(n, 1), X_(n, 1) {
    Queue<Space> q(queue);
    const CurrentDevice current(q);
    A_ = Matrix<double, Space>(n, n);
    io::generate(q, io::Generator(fmt::format("uniform:n={}", n)), A_.view());
    q.finish();
    for (std::int64_t i = 0; i < n; ++i) B_(i, 0) = 1;
  }

  Times solve(Options options, Way& way, Throttle& throttle) {
    double share = 0;
    if (way.hears_progress) options.progress = [&](double done) { share = done; };
    Slowed slowed;
    if (way.is_timed) throttle.begin();
    draw_signs();
    Times times;
    const auto make = [&] {
      const Stopwatch watch;
      const double before = processor_seconds();
      Factorization<double> factors(MatrixView<const double, Space>(A_.view()), options);
      const Report report = combined(factors.report(), factors.solve(B_.view(), X_.view()));
      times.processor = processor_seconds() - before, times.wall = watch.seconds();
      return report;
    };
    const compare::TimedSolve timed =
        way.is_timed ? compare::timed(way.recording.tasks(), make) : compare::TimedSolve{make()};
    way.recording.learn(timed);
    if (way.is_timed) throttle.end(slowed);
    require(timed.report.outcome.ok(), "a system was not solved");
    times.tasks = timed.tasks.size();
    return times;
  }

 private:
  void draw_signs() {
    Queue<Space> q(queue_);
    const CurrentDevice current(q);
    const Signs signs{signs_, signs_ + 1};
    change_signs(q, signs, A_.view(), signs);
    q.finish();
    change_signs(Queue<Cpu>(1), signs, B_.view(), {});
    ++signs_;
  }

  int queue_;
  Matrix<double, Space> A_;
  Matrix<double> B_, X_;
  std::uint64_t signs_ = 0;
};

/// By how much longer the second of each round took: the median of all rounds, and its 99.5 % interval by the test of signs
/// (Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3.4 to 3.6). What the machine does meanwhile meets both of a round.
std::string longer(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < first.size(); ++round) ratios.push_back(second.at(round) / first[round]);
  std::sort(ratios.begin(), ratios.end());
  const double count = double(ratios.size()), below = std::floor(0.5 * (count - ChangeTest().z * std::sqrt(count)));
  const std::string median = fmt::format("{:+.2f} %", 100 * (spread_of(ratios).median - 1));
  if (below < 0) return median;
  return median + fmt::format(" ({:+.2f} .. {:+.2f})", 100 * (ratios[std::size_t(below)] - 1),
                              100 * (ratios[ratios.size() - 1 - std::size_t(below)] - 1));
}

template <class Space>
void compete(int queue, std::int64_t n, int rounds, const Options& options) {
  constexpr bool on_cpu = std::is_same_v<Space, Cpu>;
  using compare::Recording;
  const Recording unasked(on_cpu ? Recording::updates : Recording::none), all(Recording::all);
  std::vector<Way> ways = {{"a program"},
                           {"compare", true, unasked},
                           {"compare --attribution", true, all},
                           {"compare of long runs", true, unasked, true}};
  System<Space> system(queue, n);
  Throttle throttle = Throttle::of(options.device);
  std::vector<std::vector<double>> worked(ways.size());
  std::vector<std::size_t> tasks(ways.size());
  const auto seconds = time_in_turns({.warmup = 2, .rounds = rounds}, ways.size(),
                                     [&](std::size_t w, bool counts) -> std::optional<double> {
                                       const Times took = system.solve(options, ways[w], throttle);
                                       if (counts) worked[w].push_back(took.processor);
                                       tasks[w] = took.tasks;
                                       return took.wall;
                                     });
  for (std::size_t w = 0; w < ways.size(); ++w) {
    fmt::print("{:>6}  {:<24}{:>12.3f} ms{:>6} tasks", n, ways[w].name, 1e3 * spread_of(seconds[w]).median, tasks[w]);
    if (w > 0) fmt::print("   wall {:<28}", longer(seconds[0], seconds[w]));
    if (w > 0 && on_cpu) fmt::print("   processor {}", longer(worked[0], worked[w]));
    fmt::print("\n");
  }
  std::cout << std::flush;
}

int run(int argc, char** argv) {
  namespace po = boost::program_options;
  std::string sizes, device, gemm;
  int rounds = 0, threads = 0;
  po::options_description known("measuring");
  known.add_options()("device", po::value(&device)->default_value("cpu"), "cpu, cuda, or cuda:N")(
      "n", po::value(&sizes)->default_value("1000,2000,4000"), "sizes")("gemm", po::value(&gemm)->default_value("auto"),
                                                                        "the backend")(
      "rounds", po::value(&rounds)->default_value(40), "of each")("threads", po::value(&threads)->default_value(1),
                                                                  "cores of the host to use");
  return run_program("measuring", known, argc, argv, [&](const po::variables_map&) {
    Options options;
    const auto where = parse_device(device);
    require(where.has_value(), "--device is cpu, cuda or cuda:N");
    options.device = *where, options.threads = threads, options.gemm = gemm;
    const Choice choice = choose(options);
    std::istringstream list(sizes);
    for (std::string n; std::getline(list, n, ',');)
      if (choice.device().kind == Device::cuda)
        compete<Cuda>(choice.cuda_device, std::stoll(n), rounds, options);
      else
        compete<Cpu>(threads, std::stoll(n), rounds, options);
  });
}

}  // namespace

}  // namespace lasolve::bench

int main(int argc, char** argv) { return lasolve::bench::run(argc, argv); }
