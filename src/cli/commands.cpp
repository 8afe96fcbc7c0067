#include "cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "bench/clock_watch.hpp"
#include "bench/turns.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/problem.hpp"
#include "cli/progress.hpp"
#include "cli/solution.hpp"
#include "cli/tune/tuned.hpp"
#include "cli/tuning.hpp"
#include "cli/watched.hpp"
#include "core/choose.hpp"
#include "core/kernel_fault.hpp"
#include "lasolve/names.hpp"
#include "tuned/combine.hpp"

namespace lasolve::cli {

namespace {

int exit_code(const Outcome& outcome, const Request& request) {
  switch (outcome.kind) {
    case Outcome::solved:
      return done;
    case Outcome::singular:
    case Outcome::not_positive_definite:
      return no_solution;
    case Outcome::not_converged:
    case Outcome::inaccurate:
      return not_accurate;
    case Outcome::ill_conditioned:
      return request.allow_ill_conditioned ? done : not_accurate;
  }
  return internal;
}

/// The runs of one backend, as they were made.
struct Runs {
  std::string backend;
  std::vector<Report> reports = {};
  bench::ClockDrift clock = {};
};

/// A solve, of which a process that watches this one hears. It ends this one where a kernel has spoilt it.
Report solved(Problem& problem, const Options& options, Runs& runs, Matrix<double>& X) {
  const bool own = is_own(runs.backend);
  tell_begin(runs.backend, std::pow(double(problem.n()), 3) / 3);
  const bench::ClockWatch clock;
  Report report;
  try {
    report = problem.solve(options, X);
    require_intact(runs.backend);
  } catch (const KernelFault& e) {
    tell_spoilt(runs.backend, e.what());
    throw std::runtime_error(fmt::format("{}: it {}", runs.backend, e.what()));
  }
  const bench::ClockDrift drift = clock.drift();
  tell_end();
  runs.clock += drift;
  if (!drift.is_changed() && !runs.clock.is_changed() && (!own || bench::ClockWatch::is_steady())) return report;
  tell_spoilt(runs.backend, own ? "changed the clock: its times mean nothing" : "met a clock that was changed");
  report.notes.push_back("the clock was changed while it ran: its times mean nothing");
  return report;
}

/// Runs a backend once, keeps the report of a run that counts, and returns its seconds; nothing where it has failed, so that it is
/// not run again.
std::optional<double> run_once(const Request& request, Problem& problem, bool counts, Runs& runs, Matrix<double>& X) {
  Options options = request.options;
  options.gemm = request.tuned ? tuned::gemm_of(*request.tuned, options.device) : GemmChoice(runs.backend);
  options.tuning = tuning_asked_for(request, options);
  const std::string which = !counts ? ", warming up"
                            : request.repeat > 1
                                ? fmt::format(", run {} of {}", runs.reports.size() + 1, request.repeat)
                                : "";
  Progress progress(runs.backend + which, request.quiet);
  options.progress = [&](double fraction) { progress(fraction); };
  adapter_note(runs.backend);  // of what ran before
  Report report = solved(problem, options, runs, X);
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
Measured measured(const Request& request, const Problem& problem, std::vector<Report> reports) {
  std::vector<double> in_order;
  for (const Report& report : reports) in_order.push_back(report.factor_seconds);
  std::sort(reports.begin(), reports.end(),
            [](const Report& a, const Report& b) { return a.factor_seconds < b.factor_seconds; });
  Measured m{reports[reports.size() / 2], int(reports.size()), reports.front().factor_seconds,
             reports.back().factor_seconds, std::move(in_order)};
  if (request.options.triangle != Uplo::both && m.report.method == Method::lu)
    m.report.notes.push_back("--triangle says what Cholesky reads: LU has read all of the matrix");
  m.report.notes.insert(m.report.notes.begin(), problem.notes().begin(), problem.notes().end());
  return m;
}

/// Runs the backends in turns, so that what the machine does meanwhile is the same for all. What is left open is as it was tuned.
std::vector<Measured> measure(Request request, Problem& problem, Matrix<double>& X) {
  const std::vector<std::string> tuned = take_tuned(request, problem);
  std::vector<Runs> all;
  for (const auto& backend : request.backends) all.push_back({backend});
  bench::time_in_turns(turns_of(request), all.size(),
                       [&](std::size_t c, bool counts) { return run_once(request, problem, counts, all[c], X); });
  std::vector<Measured> results;
  for (Runs& runs : all) {
    results.push_back(measured(request, problem, std::move(runs.reports)));
    results.back().seed = turns_of(request).seed;
    std::vector<std::string>& notes = results.back().report.notes;
    notes.insert(notes.begin(), tuned.begin(), tuned.end());
  }
  return results;
}

/// Before a long file is read: throws where a backend cannot run, or a place cannot be written.
void require_possible(const Request& request) {
  for (const auto& backend : request.backends) {
    Options options = request.options;
    options.gemm = backend;
    tuning_asked_for(request, options);
    const Choice choice = choose(options);
    if (!choice.offers(request.products_in()))
      throw UsageError(does_not_offer(choice.name(), choice.place(), request.products_in()));
  }
  if (!request.output.empty()) io::require_matrix_writable(request.output);
  if (!request.json.empty()) io::require_writable(request.json);
}

/// Whether this process has to watch another, which makes the solves.
bool has_to_watch(const Request& request) {
  return !is_watched() && std::any_of(request.backends.begin(), request.backends.end(), is_own);
}

int watch_solves(const Request& request) {
  Watched what{.words = request.words, .patience = request.patience};
  std::copy_if(request.backends.begin(), request.backends.end(), std::back_inserter(what.kernels), is_own);
  for (const std::string& file : {request.matrix, request.rhs})
    what.comes_again &= file.empty() || io::Generator::is_meant_by(file) || std::filesystem::is_regular_file(file);
  return watch(what);
}

}  // namespace

int solve(const Request& asked) {
  require_possible(asked);
  if (has_to_watch(asked)) return watch_solves(asked);
  Request request = asked;
  request.backends = those_that_are_right(asked.backends, asked.options, asked.patience);
  const bool all_are_right = request.backends.size() == asked.backends.size();
  if (request.backends.empty()) {
    fmt::print(stderr, "lasolve: nothing was solved\n");
    return not_accurate;
  }
  Problem problem(request);
  const Subject subject{problem.name(), request.rhs.empty() ? "b = A*1" : request.rhs, request.op == Op::transpose};
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.output);
  // A solution that was asked for and has no file is what standard output is for; then the report keeps off it.
  const bool print_x = !request.rhs.empty() && request.output.empty() && asked.backends.size() == 1 &&
                       !io::is_standard_output(request.json);
  std::FILE* const report_to = print_x ? stderr : stdout;
  Matrix<double> X;
  const std::vector<Measured> all = [&] {
    const Aside what_kernels_print;
    return measure(request, problem, X);
  }();
  int code = !all_are_right ? not_accurate : kernels_left_out().empty() ? done : kernels_left_out().front().code;
  for (const Measured& m : all) code = std::max(code, exit_code(m.report.outcome, request));
  if (talk)
    fmt::print(report_to, "{}{}", all.size() == 1 ? for_people(subject, all[0]) : comparison(subject, all),
               print_x ? "\n" : "");
  for (const Measured& m : all)
    if (!m.report.outcome.ok()) fmt::print(stderr, "lasolve: {}: {}\n", m.report.gemm, m.report.outcome.message());
  const bool passed = std::all_of(all.begin(), all.end(),
                                  [&](const Measured& m) { return exit_code(m.report.outcome, request) == done; });
  if (!request.output.empty() && passed)
    io::write_matrix(request.output, X, {"solution of " + request.matrix}, {request.format, problem.is_vector()});
  if (print_x && passed) print_solution(X, request.format, problem.is_vector());
  if ((print_x || !request.output.empty()) && !passed) fmt::print(stderr, "lasolve: no solution was written\n");
  if (!request.json.empty()) write_text(request.json, as_json(subject, all));
  return code;
}

int list(const Request& request) {
  const bool as_text = request.json.empty() || !io::is_standard_output(request.json);
  if (!request.list_tuning && !request.list_tuned && !request.json.empty())
    throw UsageError("--json is for list --tuning and list --tuned, not for list alone");
  if (as_text)
    fmt::print("{}", request.list_tuning  ? list_of_tuning(request)
                     : request.list_tuned ? list_of_tuned(request)
                                          : list_of_backends());
  if (!request.json.empty()) write_text(request.json, request.list_tuning ? tuning_as_json(request) : tuned_as_json());
  return done;
}

int generate(const Request& request) {
  const io::Generator generator(request.matrix);
  io::require_matrix_writable(request.output);
  io::require_memory<Cpu>(generator, sizeof(double));
  Queue<Cpu> q(request.options.threads);
  Matrix<double> A(generator.n(), generator.n());
  io::generate(q, generator, A);
  io::write_matrix(request.output, A, {request.matrix}, {request.format, false});
  return done;
}

}  // namespace lasolve::cli
