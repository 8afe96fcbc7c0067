#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/print.hpp"
#include "cli/problem.hpp"
#include "cli/solution.hpp"
#include "core/choose.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::cli {

namespace {

/// Says how far a long factorization is: on a terminal only, after a second, a few times a second.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void operator()(double fraction) {
    if (!terminal_ || running_.seconds() < last_ + (shown_ ? 0.2 : 1.0)) return;
    last_ = running_.seconds();
    shown_ = true;
    fmt::print(stderr, "\r\033[K{}: {:.0f} %, {:.0f} s", what_, 100 * fraction, last_);
    std::fflush(stderr);
  }

 private:
  std::string what_;
  Stopwatch running_;
  bool terminal_ = isatty(STDERR_FILENO) != 0, shown_ = false;
  double last_ = 0;
};

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

/// Runs one backend as often as asked; keeps the run with the median factorization time.
Measured measure(const Request& request, Problem& problem, const std::string& backend, Matrix<double>& X) {
  Options options = request.options;
  options.gemm = backend;
  std::vector<Report> reports;
  for (int run = -request.warmup; run < request.repeat; ++run) {
    Progress progress(backend);
    options.progress = [&](double fraction) { progress(fraction); };
    Report report = problem.solve(options, X);
    if (run >= 0) reports.push_back(std::move(report));
    if (run >= 0 && exit_code(reports.back().outcome, request) != done) break;
  }
  std::sort(reports.begin(), reports.end(),
            [](const Report& a, const Report& b) { return a.factor_seconds < b.factor_seconds; });
  Measured measured{reports[reports.size() / 2], int(reports.size()), reports.front().factor_seconds,
                    reports.back().factor_seconds};
  if (request.options.triangle != Uplo::both && measured.report.method == Method::lu)
    measured.report.notes.push_back("--triangle says what Cholesky reads: LU has read all of the matrix");
  measured.report.notes.insert(measured.report.notes.begin(), problem.notes().begin(), problem.notes().end());
  return measured;
}

}  // namespace

int solve(const Request& request) {
  // A backend that cannot run is refused before a long file is read.
  for (const auto& backend : request.backends) {
    Options options = request.options;
    options.gemm = backend;
    if (!choose(options).offers(request.factors_in()))
      throw UsageError(fmt::format("the GEMM backend '{}' does not offer {}; 'lasolve list' says what each offers",
                                   backend, name_of(request.factors_in())));
  }
  // And so is a place that cannot be written.
  if (!request.output.empty()) io::require_matrix_writable(request.output);
  if (!request.json.empty()) io::require_writable(request.json);
  Problem problem(request);
  const Subject subject{problem.name(), request.rhs.empty() ? "b = A*1" : request.rhs, request.op == Op::transpose};
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.output);
  // A solution that was asked for and has no file is what standard output is for; then the report keeps off it.
  const bool print_x = !request.rhs.empty() && request.output.empty() && request.backends.size() == 1 &&
                       !io::is_standard_output(request.json);
  std::FILE* const report_to = print_x ? stderr : stdout;
  std::vector<Measured> all;
  Matrix<double> X;
  int code = done;
  for (const auto& backend : request.backends) {
    all.push_back(measure(request, problem, backend, X));
    const Outcome& outcome = all.back().report.outcome;
    code = std::max(code, exit_code(outcome, request));
    if (talk && request.backends.size() == 1)
      fmt::print(report_to, "{}{}", for_people(subject, all.back()), print_x ? "\n" : "");
    if (!outcome.ok()) fmt::print(stderr, "lasolve: {}: {}\n", all.back().report.gemm, outcome.message());
  }
  if (talk && request.backends.size() > 1) fmt::print("{}", comparison(subject, all));
  if (!request.output.empty() && code == done)
    io::write_matrix(request.output, X, {"solution of " + request.matrix}, {request.format, problem.is_vector()});
  if (print_x && code == done) print_solution(X, request.format, problem.is_vector());
  if ((print_x || !request.output.empty()) && code != done) fmt::print(stderr, "lasolve: no solution was written\n");
  if (!request.json.empty()) write_text(request.json, as_json(subject, all));
  return code;
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
