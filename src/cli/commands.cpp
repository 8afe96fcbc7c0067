#include "cli/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/runs.hpp"
#include "cli/solution.hpp"
#include "cli/tune/tuned.hpp"
#include "cli/tuning.hpp"
#include "core/choose.hpp"
#include "lasolve/names.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// Before a long file is read: throws where a backend cannot run, or a place cannot be written.
void require_possible(const Request& request) {
  for (const auto& backend : request.backends) {
    Options options = request.options;
    options.gemm = backend;
    tuning_asked_for(request, options);
    const Choice choice = choose(options);
    if (!choice.offers(request.products_in()))
      throw UsageError(does_not_offer(choice.name(), choice.device(), request.products_in()) + what_it_offers(choice));
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

/// An output is replaced by a solution alone.
std::string what_is_left_of(const std::string& output) {
  return std::filesystem::is_regular_file(output) ? fmt::format("; {} is as it was before", output) : "";
}

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

int watch_solves(const Request& request) {
  worker::Watched what{.words = request.words, .backends = request.backends, .patience = request.patience};
  for (const std::string& file : {request.matrix, request.rhs})
    what.comes_again &= file.empty() || io::Generator::is_meant_by(file) || std::filesystem::is_regular_file(file);
  return worker::watch(what);
}

}  // namespace

int solve_command(int argc, const char* const* argv) {
  const Request asked = parse_solve(argc, argv);
  if (asked.version) {
    fmt::print("lasolve {}\n", version());
    return done;
  }
  require_possible(asked);
  if (worker::has_to_watch(asked.backends)) return watch_solves(asked);
  Problem problem(asked, true);
  Request request = asked;
  request.backends = those_that_are_right(asked.backends, asked.options, asked.patience, problem.n());
  const bool all_are_right = request.backends.size() == asked.backends.size();
  if (request.backends.empty()) {
    fmt::print(stderr, "lasolve: nothing was solved\n");
    return not_accurate;
  }
  const Subject subject{problem.name(), request.rhs.empty() ? "b = A*1" : request.rhs, request.op == Op::transpose};
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.output);
  const Outlet outlet(request);
  // A solution that was asked for and has no file is what standard output is for; then the report keeps off it.
  std::FILE* const report_to = outlet.is_printed ? stderr : stdout;
  Solutions solutions;
  const std::vector<Measured> all = [&] {
    const worker::Aside what_kernels_print;
    return measure(request, problem, solutions);
  }();
  int code = all_are_right ? code_of_what_is_left_out() : not_accurate;
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
    fmt::print(stderr, "lasolve: no solution was written{}\n", what_is_left_of(request.output));
  if (!request.json.empty()) write_text(request.json, as_json(subject, all));
  return code;
}

int list_command(int argc, const char* const* argv) {
  const Request request = parse_list(argc, argv);
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

int generate_command(int argc, const char* const* argv) {
  const Request request = parse_generate(argc, argv);
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

int convert_command(int argc, const char* const* argv) {
  const Request request = parse_convert(argc, argv);
  if (!shows_itself(request.output)) io::require_matrix_writable(request.output);
  io::MatrixFile file;
  {
    Progress progress("reading " + request.matrix, request.quiet);
    file = io::read_matrix(request.matrix, {.threads = Queue<Cpu>(request.options.threads).threads(),
                                            .allow_nonfinite = request.options.allow_nonfinite,
                                            .progress = [&](double share) { progress(share); },
                                            .decimal_comma = request.decimal_comma});
  }
  for (const std::string& note : file.notes) fmt::print(stderr, "lasolve: {}\n", note);
  Progress progress("writing " + request.output, request.quiet || shows_itself(request.output));
  io::write_matrix(request.output, file.matrix, {},
                   {request.format, file.is_vector, [&](double share) { progress(share); }});
  return done;
}

int help_command(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "", of = argc > 2 ? argv[2] : "";
  fmt::print("{}", word == "--man"                                    ? manual_page()
                   : word == "--completion"                           ? completion(of)
                   : word == "--usable"                               ? usable(of)
                   : word.empty() || word == "--help" || word == "-h" ? overview()
                                                                      : help_about(word));
  return done;
}

}  // namespace lasolve::cli
