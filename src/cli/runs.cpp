#include "cli/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/turns.hpp"
#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "cli/out_of_core.hpp"
#include "cli/progress.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "core/cpu/copy_on_host.hpp"
#include "core/kernel_fault.hpp"
#include "core/sizes.hpp"
#include "core/stopwatch.hpp"
#include "plugin/backends.hpp"
#include "solvers/method.hpp"
#include "solvers/watch.hpp"
#include "tuned/setting.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

enum Part : std::size_t { making, factoring, estimating, solving, refining, checking, parts };
constexpr std::array<const char*, parts> names_of_parts = {
    "making the matrix", "factoring", "estimating the condition", "solving with the factors", "refining", "checking"};

/// The steps of a solution follow one another, as the parts behind factoring do.
constexpr Part part_of(Step step) { return Part(std::size_t(estimating) + std::size_t(step)); }
static_assert(part_of(Step::condition) == estimating && part_of(Step::check) == checking);

/// About what each part costs, as operations at the rate of the factorization. To read a matrix takes as long as so many of them for
/// each element.
std::array<double, parts> costs(const Problem& problem, const Options& o) {
  constexpr double reading = 40, updates = 3, solves_of_condition = 4;
  const double n = double(problem.n()), n2 = n * n, of_rhs = 2 * n2 * double(problem.nrhs());
  const bool refines =
      is_asked_for(o.refine) || o.residual == Residual::extra || is_coarser_than<double>(o.precision, o.storage);
  const double solve = std::max(of_rhs, reading * n2), residual = std::max(of_rhs, reading * n2);
  return {problem.is_made() ? 0 : reading * n2,
          record_of(problem.method_for(o)).flops(n),
          o.condition == Condition::on ? solves_of_condition * reading * n2 : 0,
          solve,
          refines ? updates * (solve + residual) : 0,
          o.check ? (refines && !o.bounds ? 0 : residual) + reading * n2 : 0};
}

/// Called with the share of a whole solve that is done, and what is being done.
using SolveProgress = std::function<void(double share, const char* now)>;

/// Problem::solve(), from making the matrix to checking the solution.
Report solve_with_progress(Problem& problem, Options options, Matrix<double>& X, const SolveProgress& progress) {
  const auto cost = costs(problem, options);
  double total = 0;
  std::array<double, parts> before{};
  for (std::size_t p = 0; p < parts; ++p) before[p] = total, total += cost[p];
  const auto say = [&](Part part, double share) {
    progress((before[part] + share * cost[part]) / total, names_of_parts[part]);
  };
  const StepWatch watch([&](Step step, double share) { say(part_of(step), share); });
  options.progress = [&](double share) { say(factoring, share); };
  return problem.solve(options, X, false, [&](double share) { say(making, share); });
}

/// The runs of one backend, as they were made.
struct Runs {
  std::string backend;
  std::vector<Report> reports = {};
  std::optional<Resolved> decided = {};  // of each, since they differ in nothing
};

/// A solve, reported to the process that watches this one. It ends this one where a kernel has spoilt it.
Report solved(Problem& problem, const Options& options, Runs& runs, Matrix<double>& X, const SolveProgress& tell) {
  worker::begin_run(runs.backend, std::pow(double(problem.n()), 3) / 3);
  Report report;
  const RecipeWatch watch({runs.decided.emplace()});
  try {
    report = tell ? solve_with_progress(problem, options, X, tell) : problem.solve(options, X);
    plugin::require_intact(runs.backend);
  } catch (const KernelFault& e) {
    worker::give_up(runs.backend, e.what());
    throw std::runtime_error(fmt::format("{}: it {}", runs.backend, e.what()));
  }
  worker::end_run();
  return report;
}

/// Runs a backend once, keeps the report of a run that counts, and returns its seconds; nothing where it has failed, so that it is
/// not run again.
std::optional<double> run_once(const Request& request, Problem& problem, bool counts, Runs& runs, Matrix<double>& X,
                               const SolveProgress& tell) {
  Options options = request.options;
  tuned::Record both;
  options.gemm = request.tuned ? tuned::gemm_of(*request.tuned, options.device, both) : GemmChoice(runs.backend);
  options.tuning = tuning_asked_for(request, options);
  adapter_note(runs.backend);        // of what ran before
  options.progress = [](double) {};  // so that a run is the same whether somebody watches or not
  Report report = solved(problem, options, runs, X, tell);
  if (const std::string note = adapter_note(runs.backend); !note.empty()) report.notes.push_back(note);
  const double seconds = report.factor_seconds;
  const bool failed = counts && exit_code(report.outcome, request) != done;
  if (counts) runs.reports.push_back(std::move(report));
  return failed ? std::nullopt : std::optional(seconds);
}

/// A pause before each run, so that one that heats the machine harms itself.
bench::Turns turns_of(const Request& request) {
  return {.warmup = request.warmup, .rounds = request.repeat, .rest = {0, 0.1}};
}

/// Of the runs of one backend, the one with the median factorization time.
Measured measured(const Problem& problem, std::vector<Report> reports) {
  std::vector<double> in_order;
  for (const Report& report : reports) in_order.push_back(report.factor_seconds);
  std::sort(reports.begin(), reports.end(),
            [](const Report& a, const Report& b) { return a.factor_seconds < b.factor_seconds; });
  Measured m{reports[reports.size() / 2], int(reports.size()), reports.front().factor_seconds,
             reports.back().factor_seconds, std::move(in_order)};
  m.report.notes.insert(m.report.notes.begin(), problem.notes().begin(), problem.notes().end());
  return m;
}

std::vector<Measured> measured_in_turns(Request request, Problem& problem, Solutions& solutions) {
  const std::vector<std::string> tuned = take_tuned(request, problem);
  std::vector<Runs> all;
  for (const auto& backend : request.backends) all.push_back({backend});
  Progress progress("solving", request.quiet);
  const Stopwatch watch;
  const int runs = int(all.size()) * (request.warmup + request.repeat);
  int done = 0;
  const SolveProgress tell = [&](double share, const char* now) { progress((done + share) / runs, now); };
  Matrix<double> X;
  bench::time_in_turns(turns_of(request), all.size(), [&](std::size_t c, bool counts) {
    if (runs > 1)
      progress.rename(
          fmt::format("solving{} (run {} of {})", all.size() > 1 ? " with " + all[c].backend : "", done + 1, runs));
    const auto seconds = run_once(request, problem, counts, all[c], X, progress.talks() ? tell : SolveProgress());
    ++done;
    if (seconds && counts && all[c].reports.size() == 1) {
      if (all.size() > 1)
        solutions.add(X);
      else
        solutions.X = std::move(X);
    }
    return seconds;
  });
  std::vector<Measured> results;
  for (Runs& runs : all) {
    results.push_back(measured(problem, std::move(runs.reports)));
    results.back().decided = runs.decided;
    results.back().seed = turns_of(request).seed;
    std::vector<std::string>& notes = results.back().report.notes;
    notes.insert(notes.begin(), tuned.begin(), tuned.end());
    if (const std::string note = grade_note(runs.backend); !note.empty()) notes.insert(notes.begin(), note);
  }
  return results;
}

/// What the runs would tell, where it is known without them; empty where it is not.
std::vector<Measured> known(const Request& request, const Problem& problem) {
  std::vector<Measured> results;
  for (const std::string& backend : request.backends) {
    Options options = request.options;
    options.gemm = backend;
    const std::optional<Report> report = problem.known_outcome(options);
    if (report) results.push_back(measured(problem, {*report}));
  }
  return results;
}

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

/// Of the factorizations out of core; 0 where nobody knows, or there are none.
double seconds_of_parts(const Request& request, const Problem& problem) try {
  double seconds = 0;
  for (const std::string& backend : request.backends) {
    if (request.in_place || is_plugin(backend)) return 0;
    Options options = request.options;
    options.gemm = backend;
    seconds += seconds_out_of_core(options, choose(options), {.n = problem.n(), .element = Precision::fp64});
  }
  return seconds * (request.repeat + request.warmup);
} catch (const OutOfMemory&) {  // to measure with
  return 0;
}

/// About how long the solves will take on the CPU, by the rate of one small product with each backend, and the memory of A with its
/// factors; and what solvers would be better, where A is sparse. Empty where they take a moment, or nobody knows how long.
std::string outlook(const Request& request, const Problem& problem) {
  if (const double n = double(problem.n()), seconds = seconds_of_parts(request, problem); seconds > 0)
    return fmt::format(
        "out of core: factoring takes about {}, as far as the rates of a product and of a copy tell, and {} of the "
        "host's memory",
        duration(seconds), in_bytes(n * n * bytes_of(solve_precision_of(request.options).storage)));
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

}  // namespace

int exit_code(const Outcome& outcome, const Request& request) {
  switch (outcome.kind) {
    case Outcome::solved:
      return done;
    case Outcome::singular:
    case Outcome::not_positive_definite:
    case Outcome::unsuitable:
      return no_solution;
    case Outcome::not_converged:
    case Outcome::inaccurate:
    case Outcome::accuracy_not_reached:
    case Outcome::not_symmetric:
      return not_accurate;
    case Outcome::ill_conditioned:
      return request.allow_ill_conditioned ? done : not_accurate;
  }
  return internal;
}

void Solutions::add(const Matrix<double>& other) {
  if (X.rows() == 0) X = Matrix<double>(other.rows(), other.cols()), copy_on_host<double>(other, X.view());
  double most = 0, furthest = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i)
      most = std::max(most, std::abs(X(i, j))), furthest = std::max(furthest, std::abs(X(i, j) - other(i, j)));
  if (furthest > 0) difference = std::max(difference, furthest / most);
}

std::vector<Measured> measure(const Request& request, Problem& problem, Solutions& solutions) {
  if (std::vector<Measured> results = known(request, problem); !results.empty()) return results;
  if (const std::string expected = request.quiet ? "" : outlook(request, problem); !expected.empty())
    fmt::print(stderr, "lasolve: {}\n", expected);
  try {
    return measured_in_turns(request, problem, solutions);
  } catch (const OutOfMemory& e) {
    const std::string fits = problem.what_would_fit(request.options);
    if (fits.empty()) throw;
    throw MachineError(fmt::format("{}\n  would fit: {}", e.what(), fits));
  } catch (const std::invalid_argument& e) {
    if (std::string(e.what()).find("NaN or infinite") == std::string::npos) throw;
    throw std::invalid_argument(fmt::format("{}; --allow-nonfinite takes it", e.what()));
  }
}

}  // namespace lasolve::cli
