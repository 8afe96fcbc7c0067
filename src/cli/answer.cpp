#include "cli/answer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/range.hpp"
#include "io/input_file.hpp"
#include "io/io.hpp"

namespace lasolve::cli {

namespace {

constexpr std::int64_t most_rows = 24, most_cols = 6;  // that a terminal shows at a glance

/// The first and the last few of [0, length), with −1 for those between them.
std::vector<std::int64_t> head_and_tail(std::int64_t length, std::int64_t most) {
  std::vector<std::int64_t> all;
  const std::int64_t each = length <= most ? length : most / 2 - 1;
  for (std::int64_t k = 0; k < each; ++k) all.push_back(k);
  if (length <= most) return all;
  all.push_back(-1);
  for (std::int64_t k = length - each; k < length; ++k) all.push_back(k);
  return all;
}

void print_head_and_tail(MatrixView<const double> X) {
  const auto rows = head_and_tail(X.rows(), most_rows), cols = head_and_tail(X.cols(), most_cols);
  for (const std::int64_t i : rows) {
    if (i < 0) {
      fmt::print("... {} more rows; --output FILE writes all\n", X.rows() - std::int64_t(rows.size()) + 1);
      continue;
    }
    std::string line;
    for (const std::int64_t j : cols)
      line += (line.empty() ? "" : " ") + (j < 0 ? std::string("...") : fmt::format("{}", X(i, j)));
    fmt::print("{}\n", line);
  }
}

/// X in the format of the options, a row a line and with blanks between numbers where that is automatic, with the fewest digits that
/// read back as the same numbers. On a terminal a long X is its head and its tail; a pipe or a file gets all of it.
void print_solution(MatrixView<const double> X, const io::WriteOptions& options) {
  const bool as_text = options.format == io::FileFormat::automatic;
  const bool is_long = X.rows() > most_rows || X.cols() > most_cols;
  if (as_text && is_long && isatty(STDOUT_FILENO) != 0) return print_head_and_tail(X);
  std::fflush(stdout);
  io::WriteOptions to = options;
  if (as_text) to.format = io::FileFormat::txt;
  io::write_matrix("-", X, {}, to);
}

/// What went wrong, with the backends where there are several; what is the same for several is said once.
void say_what_failed(const std::vector<Measured>& all) {
  std::vector<std::pair<std::string, std::string>> said;  // a message, and whose it is
  for (const Measured& m : all) {
    if (m.report.outcome.ok()) continue;
    const std::string message = m.report.outcome.message();
    auto* const same = find_in(said, [&](const auto& one) { return one.first == message; });
    if (!same)
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
  return io::is_regular_file(output) ? fmt::format("; {} is as it was before", output) : "";
}

void write_solution(const Request& request, bool is_vector, const Outlet& outlet, const Matrix<double>& X) {
  Progress progress("writing " + (outlet.is_printed ? "the solution" : request.output),
                    request.quiet || shows_itself(outlet.is_printed ? "-" : request.output));
  const io::WriteOptions options{request.format, is_vector, [&](double share) { progress(share); }};
  if (!request.output.empty())
    io::write_matrix(request.output, X, {"solution of " + request.matrix}, options);
  else if (outlet.is_printed)
    print_solution(X, options);
  else if (outlet.is_asked_for && !request.quiet)
    fmt::print(stderr, "lasolve: X was not written: standard output has the JSON; {}--output FILE writes X\n",
               request.backends.size() > 1 ? "with one backend " : "");
}

}  // namespace

void require_outputs_writable(const Request& request) {
  if (!request.output.empty()) io::require_matrix_writable(request.output);
  if (!request.json.empty()) io::require_writable(request.json);
}

bool shows_itself(const std::string& path) { return io::is_standard_output(path) && isatty(STDOUT_FILENO) != 0; }

int say_and_write(const Request& request, const std::vector<Measured>& all, const Solutions& solutions, bool is_vector,
                  int code) {
  const Subject subject{request.matrix, request.rhs.empty() ? "b = A*1" : request.rhs, request.op == Op::transpose};
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.output);
  const Outlet outlet(request);
  // A solution that was asked for and has no file is what standard output is for; then the report keeps off it.
  std::FILE* const report_to = outlet.is_printed ? stderr : stdout;
  for (const Measured& m : all) code = std::max(code, exit_code(m.report.outcome, request));
  if (talk)
    fmt::print(report_to, "{}{}", all.size() == 1 ? for_people(subject, all[0]) : comparison(subject, all),
               outlet.is_printed ? "\n" : "");
  say_what_failed(all);
  if (talk && outlet.is_printed && all.size() > 1 && code == done)
    fmt::print(
        report_to, "X is that of {}; {}\n\n", all[0].report.gemm,
        solutions.difference == 0
            ? "the others have the same bits"
            : fmt::format("the others differ from it by {:.0e} of its largest entry at most", solutions.difference));
  if (code == done)
    write_solution(request, is_vector, outlet, solutions.X);
  else if (outlet.is_asked_for)
    fmt::print(stderr, "lasolve: no solution was written{}\n", what_is_left_of(request.output));
  if (!request.json.empty()) write_text(request.json, as_json(subject, all));
  return code;
}

}  // namespace lasolve::cli
