#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/clock_watch.hpp"
#include "bench/turns.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/solution.hpp"
#include "cli/told.hpp"
#include "cli/tune/tuned.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "core/stopwatch.hpp"
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
};

/// Runs a backend once, keeps the report of a run that counts, and returns its seconds; nothing where it has failed, so that it is
/// not run again.
std::optional<double> run_once(const Request& request, Problem& problem, bool counts, Runs& runs, Matrix<double>& X,
                               const HearsOfSolve& hears) {
  Options options = request.options;
  options.gemm = request.tuned ? tuned::gemm_of(*request.tuned, options.device) : GemmChoice(runs.backend);
  options.tuning = tuning_asked_for(request, options);
  adapter_note(runs.backend);  // of what ran before
  const bench::ClockWatch clock;
  options.progress = [](double) {};  // so that a run is the same whether somebody watches or not
  Report report = hears ? solve_and_tell(problem, options, X, hears) : problem.solve(options, X);
  require_intact(runs.backend);
  if (clock.changed()) report.notes.push_back("the clock was changed while it ran: its times mean nothing");
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

/// The solution of the first backend, and how far from it the others' are: the largest difference over the largest entry.
struct Solutions {
  Matrix<double> X;
  double apart = 0;

  void add(const Matrix<double>& other) {
    if (X.rows() == 0) X = copy_of(other);
    double most = 0, difference = 0;
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i)
        most = std::max(most, std::abs(X(i, j))), difference = std::max(difference, std::abs(X(i, j) - other(i, j)));
    if (difference > 0) apart = std::max(apart, difference / most);
  }
  static Matrix<double> copy_of(const Matrix<double>& from) {
    Matrix<double> to(from.rows(), from.cols());
    for (std::int64_t j = 0; j < from.cols(); ++j)
      for (std::int64_t i = 0; i < from.rows(); ++i) to(i, j) = from(i, j);
    return to;
  }
};

/// Runs the backends in turns, so that what the machine does meanwhile is the same for all. What is left open is as it was tuned.
std::vector<Measured> measure(Request request, Problem& problem, Solutions& solutions) {
  const std::vector<std::string> tuned = take_tuned(request, problem);
  std::vector<Runs> all;
  for (const auto& backend : request.backends) all.push_back({backend});
  Progress progress("solving", request.quiet);
  const Stopwatch watch;
  bench::Tally tally(all.size(), request.warmup + request.repeat, 0);
  const HearsOfSolve hears = [&](double share, const char* now) {
    if (tally.runs() == 1) return progress(share, now);
    progress.say(tally.share(watch.seconds(), share), tally.seconds_left(share), now);
  };
  Matrix<double> X;
  bench::time_in_turns(turns_of(request), all.size(), [&](std::size_t c, bool counts) {
    tally.begin(c, watch.seconds());
    if (tally.runs() > 1)
      progress.rename(fmt::format("solving{} (run {} of {})", all.size() > 1 ? " with " + all[c].backend : "",
                                  tally.of_run(), tally.runs()));
    const auto seconds = run_once(request, problem, counts, all[c], X, progress.talks() ? hears : HearsOfSolve());
    tally.end(watch.seconds(), !seconds);
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
    results.back().seed = turns_of(request).seed;
    std::vector<std::string>& notes = results.back().report.notes;
    notes.insert(notes.begin(), tuned.begin(), tuned.end());
  }
  return results;
}

/// The same, and with what fails goes the option that would do.
std::vector<Measured> measure_or_advise(const Request& request, Problem& problem, Solutions& solutions) {
  try {
    return measure(request, problem, solutions);
  } catch (const OutOfMemory& e) {
    const std::string fits = problem.what_would_fit(request.options);
    if (fits.empty()) throw;
    throw MachineError(fmt::format("{}\n  would fit: {}", e.what(), fits));
  } catch (const std::invalid_argument& e) {
    if (std::string(e.what()).find("NaN or infinite") == std::string::npos) throw;
    throw std::invalid_argument(fmt::format("{}; --allow-nonfinite takes it", e.what()));
  }
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

/// What went wrong, with the backends where there are several; what is the same for several is said once.
void say_what_failed(const std::vector<Measured>& all) {
  std::vector<std::pair<std::string, std::string>> said;  // a message, and whose it is
  for (const Measured& m : all) {
    if (m.report.outcome.ok()) continue;
    const std::string message = m.report.outcome.message();
    const auto same = std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == message; });
    if (same == said.end())
      said.push_back({message, m.report.gemm});
    else
      same->second += ", " + m.report.gemm;
  }
  for (const auto& [message, backends] : said)
    fmt::print(stderr, "lasolve: {}{}\n", all.size() > 1 ? backends + ": " : "", message);
}

/// Where X goes, if anywhere.
struct Outlet {
  bool is_asked_for, is_printed;

  explicit Outlet(const Request& r)
      : is_asked_for(!r.rhs.empty() || !r.output.empty()),
        is_printed(!r.rhs.empty() && r.output.empty() && !io::is_standard_output(r.json)) {}
};

/// What is written to a terminal is its own progress.
bool shows_itself(const std::string& path) { return io::is_standard_output(path) && isatty(STDOUT_FILENO) != 0; }

void write_solution(const Request& request, const Problem& problem, const Outlet& outlet, const Matrix<double>& X) {
  Progress progress("writing " + (outlet.is_printed ? "the solution" : request.output),
                    request.quiet || shows_itself(outlet.is_printed ? "-" : request.output));
  const io::WriteOptions options{request.format, problem.is_vector(), [&](double share) { progress(share); }};
  if (!request.output.empty())
    io::write_matrix(request.output, X, {"solution of " + request.matrix}, options);
  else if (outlet.is_printed)
    print_solution(X, options);
  else if (outlet.is_asked_for && !request.quiet)
    fmt::print(stderr, "lasolve: X was not written: standard output has the JSON; {}--output FILE writes X\n",
               request.backends.size() > 1 ? "with one backend " : "");
}

}  // namespace

int solve(const Request& asked) {
  require_possible(asked);
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
  const Outlet outlet(request);
  // A solution that was asked for and has no file is what standard output is for; then the report keeps off it.
  std::FILE* const report_to = outlet.is_printed ? stderr : stdout;
  Solutions solutions;
  const std::vector<Measured> all = measure_or_advise(request, problem, solutions);
  int code = all_are_right ? done : not_accurate;
  for (const Measured& m : all) code = std::max(code, exit_code(m.report.outcome, request));
  if (talk)
    fmt::print(report_to, "{}{}", all.size() == 1 ? for_people(subject, all[0]) : comparison(subject, all),
               outlet.is_printed ? "\n" : "");
  say_what_failed(all);
  if (talk && outlet.is_printed && all.size() > 1 && code == done)
    fmt::print(report_to, "X is that of {}; {}\n\n", all[0].report.gemm,
               solutions.apart == 0
                   ? "the others have the same bits"
                   : fmt::format("the others differ from it by {:.0e} of its largest entry at most", solutions.apart));
  if (code == done)
    write_solution(request, problem, outlet, solutions.X);
  else if (outlet.is_asked_for)
    fmt::print(stderr, "lasolve: no solution was written\n");
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
  const std::int64_t n = generator.n(), at_once = std::max<std::int64_t>(1, (1 << 24) / n);
  Matrix<double> A(n, n);
  {
    Progress progress("making " + request.matrix, request.quiet);
    for (std::int64_t j = 0; j < n; j += at_once) {
      progress(double(j) / double(n));
      io::generate(q, generator, A.view().columns(j, std::min(at_once, n - j)), j);
    }
  }
  Progress progress("writing " + request.output, request.quiet || shows_itself(request.output));
  io::write_matrix(request.output, A, {request.matrix},
                   {request.format, false, [&](double share) { progress(share); }});
  return done;
}

}  // namespace lasolve::cli
