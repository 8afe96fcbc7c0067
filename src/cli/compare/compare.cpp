// lasolve compare: what each GEMM backend is worth in a whole solve.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/compare/apart.hpp"
#include "cli/compare/report.hpp"
#include "cli/guide.hpp"
#include "cli/json.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "compare/attribution.hpp"
#include "compare/record.hpp"
#include "compare/tables.hpp"
#include "compare/together.hpp"
#include "compare/trace.hpp"
#include "compare/verdict.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"
#include "lasolve/names.hpp"

namespace lasolve::cli {

namespace {

using compare::Comparison;
using compare::Row;

/// A result that was written before.
struct Earlier {
  Comparison comparison;
  Json environment;
};

std::optional<std::string> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Earlier earlier(const std::string& path) {
  const auto text = contents(path);
  if (!text) throw io::InputError(fmt::format("{}: error: cannot open: {}", path, std::strerror(errno)));
  return {compare::comparison_of(*text, path), compare::environment_in(*text)};
}

/// What differs of two environments, such as "processor"; empty: nothing that bears on speed.
std::string difference(const Json& a, const Json& b) {
  for (const char* what :
       {"processor", "threads", "cuda_devices", "driver", "cuda_toolkit", "compiler", "flags", "lasolve"})
    if (a.value(what, Json()) != b.value(what, Json()))
      return fmt::format("{}: {} then, {} now", what, a.value(what, Json()).dump(), b.value(what, Json()).dump());
  return "";
}

/// Measures size after size, and writes what there is after each.
class Sweep {
 public:
  explicit Sweep(const CompareRequest& request)
      : request_(request), environment_(environment(request.setting.threads)), contestants_(contestants_of(request)) {
    all_.setting = request.setting;
    for (const std::string& path : request.baselines) {
      Earlier one = earlier(path);
      if (baseline_)
        add_to_baseline(one, path);
      else
        baseline_ = std::move(one);
    }
    if (!request.beside.empty()) draw_beside(earlier(request.beside));
    if (request.resume && contents(request.json)) continue_with(earlier(request.json));
  }

  void run() {
    std::vector<std::int64_t> sizes = request_.sizes;
    if (sizes.empty()) sizes = {0};  // that of the matrix
    const bool all_are_there =
        std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return find_before(n).has_value(); });
    if (request_.verify && !all_are_there) try_backends();
    Progress progress("comparing", request_.quiet);
    double work = 0, done = 0;
    for (const std::int64_t n : sizes) work += work_of(n);
    if (before_) all_.limits = before_->limits;
    if (request_.wants_limits() && all_.limits.empty()) all_.limits = limits_of(contestants_, request_.setting.threads);
    for (const std::int64_t n : sizes) {
      if (const auto before = find_before(n)) {
        take_over(*before);
      } else {
        compare::Size size;
        const auto say = [&](double share) { progress(std::min(1.0, (done + share * work_of(n)) / work)); };
        for (Row& row : measure(n, size, say)) all_.rows.push_back(std::move(row));
        all_.sizes.push_back(size);
      }
      done += work_of(n);
      judge();
      if (!request_.json.empty() && (request_.json != "-" || n == sizes.back())) write_text(request_.json, json());
    }
  }

  const Comparison& result() const { return all_; }
  const Json& where() const { return environment_; }
  std::string json() const {
    const Json beside = beside_ ? compare::drawn_beside(beside_->comparison, beside_->environment) : Json(nullptr);
    return cli::text_of(compare::as_json(all_, environment_, beside));
  }

 private:
  /// What an own kernel does may end the process. A matrix that comes through a pipe comes once, and to this one.
  std::vector<Row> measure(std::int64_t n, compare::Size& size, const std::function<void(double)>& say) {
    const bool own = std::any_of(contestants_.begin(), contestants_.end(),
                                 [](const Contestant& c) { return is_own(c.name) && c.fault.empty(); });
    const bool comes_again =
        io::Generator::is_meant_by(request_.matrix) || std::filesystem::is_regular_file(request_.matrix);
    return own && comes_again ? run_size_apart(request_, contestants_, n, size, say)
                              : run_size(request_, contestants_, request_.matrix_of(n), size, {.progress = say});
  }

  void try_backends() {
    Progress progress("trying the backends", request_.quiet);
    verify(request_, contestants_, [&](double share) { progress.say(share, std::nullopt); });
  }

  /// Sessions of one baseline are of one program on one machine.
  void add_to_baseline(const Earlier& more, const std::string& path) {
    const std::string what = difference(baseline_->environment, more.environment);
    if (!what.empty())
      throw UsageError(
          fmt::format("--baseline: {} was measured otherwise than {}: {}", path, request_.baselines[0], what));
    for (const compare::Size& size : more.comparison.sizes) {
      const compare::Size* const first = baseline_->comparison.find_size(size.n);
      if (first && first->hash != size.hash)
        throw UsageError(fmt::format("--baseline: {} has another matrix than {} at n = {}: {}", path,
                                     request_.baselines[0], size.n, size.matrix));
    }
    const compare::Setting &its = more.comparison.setting, &ours = baseline_->comparison.setting;
    if (its.factorization != ours.factorization || its.schedule != ours.schedule || its.block_size != ours.block_size ||
        its.threads != ours.threads)
      throw UsageError(
          fmt::format("--baseline: {} has another --factorization, --schedule, --block-size or --threads than {}", path,
                      request_.baselines[0]));
    compare::add_session(baseline_->comparison, more.comparison);
  }

  /// One has to be the CPU, the other CUDA, with times of the same size and precision.
  void draw_beside(Earlier other) {
    const std::string here = contestants_.front().device, cpu = name_of(Device::cpu);
    std::vector<std::int64_t> sizes = request_.sizes;
    if (sizes.empty()) sizes = {io::Generator(request_.matrix).n()};
    std::vector<std::string> ours, its;  // what there are times of
    const auto add = [](std::vector<std::string>& all, std::int64_t n, const std::string& precision) {
      all.push_back(fmt::format("n = {} in {}", n, precision));
      if (std::count(all.begin(), all.end(), all.back()) > 1) all.pop_back();
    };
    for (const std::int64_t n : sizes)
      for (const Contestant& c : contestants_)
        if (!c.peer) add(ours, n, c.precision);
    for (const Row& row : other.comparison.rows) {
      if (!row.timed() || row.is_peer) continue;
      if ((row.key.device == cpu) == (here == cpu))
        throw UsageError(fmt::format(
            "--beside: {} was measured on {}, and this is on {}: one of the two has to be the CPU, the other CUDA",
            request_.beside, row.key.device, here));
      add(its, row.key.n, row.key.precision);
    }
    if (std::find_first_of(ours.begin(), ours.end(), its.begin(), its.end()) == ours.end())
      throw UsageError(fmt::format("--beside: no size in common: {} has {}; this has {}", request_.beside,
                                   its.empty() ? "none" : fmt::format("{}", fmt::join(its, ", ")),
                                   fmt::join(ours, ", ")));
    beside_ = std::move(other);
  }

  void continue_with(Earlier before) {
    if (!(before.comparison.setting == request_.setting))
      throw UsageError(fmt::format("--resume: {} was measured with other options", request_.json));
    if (const std::string what = difference(before.environment, environment_); !what.empty())
      throw UsageError(fmt::format("--resume: {} was measured elsewhere: {}", request_.json, what));
    before_ = std::move(before.comparison);
  }

  /// The size, if all of its rows were measured before.
  std::optional<compare::Size> find_before(std::int64_t n) const {
    if (!before_) return std::nullopt;
    for (const auto& size : before_->sizes)
      if ((n == 0 || size.n == n) && std::all_of(contestants_.begin(), contestants_.end(), [&](const Contestant& c) {
            return before_->find(c.key(size.n)) != nullptr;
          }))
        return size;
    return std::nullopt;
  }
  void take_over(const compare::Size& size) {
    for (const Contestant& c : contestants_) all_.rows.push_back(*before_->find(c.key(size.n)));
    all_.sizes.push_back(size);
  }

  /// Verdicts against the baseline, and remarks.
  void judge() {
    all_.remarks = compare::remarks_on(all_);
    for (const Row& row : all_.rows)
      if (!row.adapter.empty())
        all_.remarks.push_back(
            fmt::format("{} in {} at n = {}: {}", row.key.gemm, row.key.precision, row.key.n, row.adapter));
    if (request_.copies && !request_.setting.copies)
      all_.remarks.push_back("--copies: on the CPU there is nothing to copy");
    for (const auto& why : request_.left_out) all_.remarks.push_back(fmt::format("--peers leaves out {}", why));
    if (beside_) remark_on_other_matrices(beside_->comparison, request_.beside);
    if (beside_ && beside_->comparison.setting.factorization != all_.setting.factorization)
      all_.remarks.push_back(
          fmt::format("{} has --factorization {}", request_.beside, beside_->comparison.setting.factorization));
    if (!baseline_) return;
    if (const std::string what = difference(baseline_->environment, environment_); !what.empty())
      all_.remarks.push_back(fmt::format("the baseline was measured otherwise: {}", what));
    for (Row& row : all_.rows) row.against_baseline = compare::verdict(baseline_->comparison, all_, row.key);
    for (auto& remark : compare::remarks_on_changes(baseline_->comparison, all_))
      all_.remarks.push_back(std::move(remark));
    remark_on_other_matrices(baseline_->comparison, "the baseline");
  }
  void remark_on_other_matrices(const Comparison& other, const std::string& name) {
    for (const auto& size : all_.sizes)
      for (const auto& its : other.sizes)
        if (its.n == size.n && its.hash != size.hash && !its.hash.empty() && !size.hash.empty())
          all_.remarks.push_back(fmt::format("{} has another matrix at n = {}: {}", name, size.n, its.matrix));
  }

  const CompareRequest& request_;
  const Json environment_;
  std::vector<Contestant> contestants_;
  Comparison all_;
  std::optional<Comparison> before_;
  std::optional<Earlier> baseline_, beside_;
};

std::string for_people(const CompareRequest& request, const Comparison& all, const Json& environment) {
  const bool baseline = !request.baselines.empty();
  const auto print = [&](const compare::Table& table) {
    return request.markdown ? compare::as_markdown(table) : compare::as_text(table);
  };
  std::string text = print(compare::table_of(all, baseline)) + "\n";
  if (!request.markdown) text += compare::legend_of(all, baseline);
  if (request.attribution) {
    text += "\nwhere the time of the median run went\n\n" + print(compare::phase_table(all));
    const compare::Table updates = compare::update_table(all);
    text += updates.lines.empty() ? "\nno trailing updates were timed\n"
                                  : "\ntrailing updates C <- C - L U, where C is m x columns and L is m x k; updates "
                                    "from the size given down to half of it "
                                    "together\n\n" +
                                        print(updates);
    for (const auto& limit : all.limits)
      text += fmt::format("\nthe roofline of {} on {}: {:.1f} GFLOP/s or that of the fastest update, and {:.1f} GB/s\n",
                          limit.precision, limit.device, 1e-9 * limit.roof.flops_per_second,
                          1e-9 * limit.roof.bytes_per_second);
  }
  if (!all.remarks.empty()) text += "\n";
  for (const auto& remark : all.remarks) text += fmt::format("{}{}\n", request.markdown ? "- " : "note: ", remark);
  if (request.markdown) text += "\n" + compare::as_markdown(compare::environment_table(all, environment));
  return text;
}

/// A failure is worth more than a slow row: what cannot run is not compared.
int exit_code(const CompareRequest& request, const Comparison& all) {
  bool wrong = false, wanting = false, is_slower = false;
  for (const Row& row : all.rows) {
    if (!row.passed()) (row.for_want_of_machine ? wanting : wrong) = true;
    is_slower |= row.against_baseline && row.against_baseline->kind == bench::Change::slower;
  }
  return wrong ? not_accurate : wanting ? machine : is_slower && request.fail_on_slower ? slower : done;
}

}  // namespace

int compare_command(int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == std::string("size")) return run_size_as_told({argv + 2, argv + argc});
  const CompareRequest request = parse_compare(argc, argv);
  if (request.help) {
    fmt::print("{}", help_of("compare"));
    return done;
  }
  for (const std::string& path : {request.json, request.csv, request.trace, request.report})
    if (!path.empty()) io::require_writable(path);
  if (!request.report.empty()) require_report_tools();
  Sweep sweep(request);
  sweep.run();
  const Comparison& all = sweep.result();
  const bool talk = !request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.csv) &&
                    !io::is_standard_output(request.trace) && !io::is_standard_output(request.report);
  if (talk) fmt::print("{}", for_people(request, all, sweep.where()));
  for (const Row& row : all.rows)
    if (!row.passed())
      fmt::print(stderr, "lasolve: {} in {} at n = {}: {}\n", row.key.gemm, row.key.precision, row.key.n, row.failure);
  if (!request.csv.empty()) write_text(request.csv, compare::as_csv(all, sweep.where()));
  if (!request.trace.empty()) write_text(request.trace, compare::as_trace(all));
  if (!request.report.empty()) write_text(request.report, report_page(sweep.json()));
  return exit_code(request, all);
}

}  // namespace lasolve::cli
