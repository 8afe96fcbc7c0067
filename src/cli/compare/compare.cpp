// lasolve compare: what each GEMM backend is worth in a whole solve.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iterator>
#include <set>

#include "cli/commands.hpp"
#include "cli/compare/sweep.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "compare/record.hpp"
#include "compare/tables.hpp"
#include "core/module.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "io/input_file.hpp"
#include "io/io.hpp"
#include "lasolve/matrix.hpp"
#include "plugin/program.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// The first that can draw: that of a virtual environment, then the system's. The script turns to the system's by itself where the
/// first has no matplotlib, so this is for where the first does not even start.
std::string find_python(const std::string& script) {
  bool any = false;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const int code = plugin::run({python, script, "--check"}, "", false).code;
    if (code == 0) return python;
    any |= code >= 0 && code != 127;
  }
  throw MachineError(
      any ? "pictures take matplotlib; on Debian and Ubuntu it is the package python3-matplotlib"
          : "pictures take Python; on Debian and Ubuntu it is the packages python3 and python3-matplotlib");
}

/// The script, beside the tool where it was built or installed.
std::string script_or_error() {
  std::string script = beside_this_program({LASOLVE_BIN_TO_DATA "/lasolve/pictures", "../scripts/pictures"});
  if (script.empty())
    throw MachineError(
        "the script that draws is not beside the tool: it is share/lasolve/pictures where lasolve is installed, and "
        "scripts/pictures in the sources");
  return script;
}

/// Throws MachineError where the script, Python or matplotlib is missing, with the package that has it. To be called before a long
/// measurement.
void require_report_tools() { find_python(script_or_error()); }

/// HTML of the JSON of a comparison. Throws MachineError where the script fails.
std::string report_page(const std::string& json) {
  const std::string script = script_or_error();
  const plugin::Answer answer = plugin::run({find_python(script), script, "--report"}, json, true);
  if (answer.code != 0 || answer.output.empty())
    throw MachineError(fmt::format("the report could not be drawn: {} ended with {}", script, answer.code));
  return answer.output;
}

using compare::Comparison;
using compare::Row;

std::string for_people(const CompareRequest& request, const Comparison& all, const Json& environment) {
  const bool baseline = !request.baselines.empty();
  const auto print = [&](const compare::Table& table) {
    return request.markdown ? compare::as_markdown(table) : compare::as_text(table);
  };
  std::string text = print(compare::table_of(all, baseline)) + "\n";
  if (!request.markdown) text += compare::legend_of(all, baseline);
  if (request.attribution) {
    text +=
        "\nwhere the time of the median run went; where phases overlap, an instant counts once: for updates (gemm) "
        "where one runs, else for the first of panel, trsm and swap\n\n" +
        print(compare::phase_table(all));
    const compare::Table updates = compare::update_table(all);
    text += updates.lines.empty() ? "\nno updates were timed\n"
                                  : "\nupdates C <- C - L U, where C is m x columns and L is m x k; updates from the "
                                    "size given down to half of it together\n\n" +
                                        print(updates);
    for (const auto& limit : all.limits)
      text += fmt::format("\nthe roofline of {} on {}: {:.1f} GFLOP/s or that of the fastest update, and {:.1f} GB/s\n",
                          limit.precision, limit.device, 1e-9 * limit.roof.flops_per_second,
                          1e-9 * limit.roof.bytes_per_second);
  }
  for (const auto& order : compare::orders_of(all))
    text += fmt::format("{}order: {}\n", request.markdown ? "- " : "", order);
  if (!all.remarks.empty()) text += "\n";
  for (const auto& remark : all.remarks) text += fmt::format("{}{}\n", request.markdown ? "- " : "note: ", remark);
  if (request.markdown) text += "\n" + compare::as_markdown(compare::environment_table(all, environment));
  return text;
}

/// The rows of which it is not known whether they are slower than the baseline, and why.
std::vector<std::string> unknown_rows(const Comparison& all) {
  std::vector<std::string> unknown;
  for (const Row& row : all.rows) {
    if (!row.timed() || row.is_baseline_solver) continue;
    const bool known = row.against_baseline && bench::word_of(*row.against_baseline) != std::string("unknown");
    if (known) continue;
    unknown.push_back(
        fmt::format("{} in {} at n = {} ({})", all.label_of(row), row.key.precision, row.key.n,
                    row.against_baseline ? compare::in_words(*row.against_baseline) : row.why_no_verdict));
  }
  return unknown;
}

/// A failure is worth more than a slow row: what cannot run is not compared.
int exit_code(const CompareRequest& request, const Comparison& all) {
  bool wrong = false, wanting = false, is_slower = false;
  for (const Row& row : all.rows) {
    if (!row.passed()) (row.for_want_of_machine ? wanting : wrong) = true;
    is_slower |= row.against_baseline && row.against_baseline->kind == bench::Change::slower;
  }
  if (wrong || wanting) return wrong ? not_accurate : machine;
  if (!kernels_left_out().empty()) return code_of_what_is_left_out();
  if (!request.fail_on_slower) return done;
  if (is_slower) return slower;
  const std::vector<std::string> unknown = unknown_rows(all);
  if (unknown.empty()) return done;
  fmt::print(stderr, "lasolve: --fail-on slower: it is not known whether these are slower: {}\n",
             fmt::join(unknown, ", "));
  return cannot_tell;
}

/// A failure that several rows have, or one at several sizes, is said once; and not again what was said in validation.
void say_what_failed(const Comparison& all) {
  struct Failure {
    const Row& first;
    std::set<std::int64_t> sizes;
    std::vector<std::string> names;
  };
  std::vector<Failure> failures;
  for (const Row& row : all.rows) {
    if (row.passed() || row.failure_kind == Row::in_validation) continue;
    auto* const same = find_in(failures, [&](const Failure& f) {
      return f.first.failure == row.failure && f.first.key.precision == row.key.precision;
    });
    Failure& its = same ? *same : failures.emplace_back(Failure{row, {}, {}});
    its.sizes.insert(row.key.n);
    if (const std::string name = all.label_of(row); !contains(its.names, name)) its.names.push_back(name);
  }
  for (const Failure& f : failures)
    fmt::print(stderr, "lasolve: {} in {} at n = {}: {}\n", fmt::join(f.names, ", "), f.first.key.precision,
               fmt::join(f.sizes, ", "), f.first.failure);
}

/// A matrix that comes through a pipe comes once. Then all sizes are measured in one process, which plugin kernels may end.
bool has_to_watch(const CompareRequest& request) {
  const bool comes_again = io::Generator::is_meant_by(request.matrix) || io::is_regular_file(request.matrix);
  return !comes_again && worker::has_to_watch(request.backends);
}

}  // namespace

int compare_command(int argc, const char* const* argv) {
  const CompareRequest request = parse_compare(argc, argv);
  for (const std::string& path : {request.json, request.csv, request.trace, request.report})
    if (!path.empty()) io::require_writable(path);
  if (!request.report.empty()) require_report_tools();
  if (!request.quiet && !worker::is_watched())
    for (const std::string& what : said_before(request)) fmt::print(stderr, "lasolve: note: {}\n", what);
  if (has_to_watch(request))
    return worker::watch({.words = request.words,
                          .backends = request.backends,
                          .run = "timed solve",
                          .patience = request.patience,
                          .comes_again = false});
  Sweep sweep(request);
  {
    const worker::RedirectedOutput what_kernels_print;
    sweep.run();
  }
  const Comparison& all = sweep.result();
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.csv) &&
                    !io::is_standard_output(request.trace) && !io::is_standard_output(request.report);
  if (talk) fmt::print("{}", for_people(request, all, sweep.where()));
  say_what_failed(all);
  if (!request.csv.empty()) write_text(request.csv, compare::as_csv(all, sweep.where()));
  if (!request.trace.empty()) write_text(request.trace, compare::as_trace(all));
  if (!request.report.empty()) write_text(request.report, report_page(sweep.json()));
  return exit_code(request, all);
}

}  // namespace lasolve::cli
