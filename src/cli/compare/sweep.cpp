#include "cli/compare/sweep.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/compare/run.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "compare/attribution.hpp"
#include "compare/common_movement.hpp"
#include "compare/record.hpp"
#include "compare/remarks.hpp"
#include "compare/verdict.hpp"
#include "core/range.hpp"
#include "io/generators.hpp"
#include "io/input_error.hpp"
#include "lasolve/names.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

using compare::Comparison;
using compare::Row;

namespace {

/// Of a file that --json wrote; nothing where there is no such file. Throws io::InputError.
std::optional<Earlier> earlier_if_any(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return Earlier{compare::comparison_of(text.str(), path), compare::environment_in(text.str())};
}

Earlier earlier(const std::string& path) {
  auto found = earlier_if_any(path);
  if (!found) throw io::InputError(fmt::format("{}: error: cannot open: {}", path, std::strerror(errno)));
  return std::move(*found);
}

/// What differs of two environments, such as "processor: A then, B now"; empty: nothing that bears on speed.
std::string difference(const Json& a, const Json& b) {
  for (const char* what :
       {"processor", "threads", "cuda_devices", "driver", "cuda_toolkit", "compiler", "flags", "lasolve"})
    if (a.value(what, Json()) != b.value(what, Json()))
      return fmt::format("{}: {} then, {} now", what, a.value(what, Json()).dump(), b.value(what, Json()).dump());
  return "";
}

/// What rows were asked for with, in words.
std::set<std::string> options_in(const Comparison& all) {
  std::set<std::string> found;
  for (const Row& row : all.rows)
    if (!row.is_baseline_solver)
      found.insert(row.key.options.empty() ? "no options" : compare::options_in_words(row.key));
  return found;
}

}  // namespace

Sweep::Sweep(const CompareRequest& request)
    : request_(request),
      environment_(environment(request.setting.threads)),
      contestants_(contestants_of(request).all),
      sizes_(request.sizes.empty() ? std::vector<std::int64_t>{0} : request.sizes) {
  all_.setting = request.setting;
  all_.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  all_.command = request.command();
  for (const std::string& path : request.baselines) {
    Earlier one = earlier(path);
    if (baseline_)
      add_to_baseline(one, path);
    else
      baseline_ = std::move(one);
  }
  if (!request.beside.empty()) draw_beside(earlier(request.beside));
  if (auto before = request.resume ? earlier_if_any(request.json) : std::nullopt) continue_with(std::move(*before));
}

void Sweep::run() {
  std::vector<std::int64_t> sizes = sizes_;  // and those that are there, in order
  if (before_ && sizes_.front() != 0)
    for (const compare::Size& size : before_->sizes)
      if (!is_asked_for(size.n)) sizes.push_back(size.n);
  std::sort(sizes.begin(), sizes.end());
  const bool all_are_there = all_of(sizes, [&](std::int64_t n) { return find_before(n); });
  if (request_.verify && !all_are_there) try_backends();
  Progress progress("comparing", request_.quiet);
  double work = 0, done = 0;
  for (const std::int64_t n : sizes) work += work_of(n);
  if (before_) all_.limits = before_->limits;
  std::erase_if(sizes, [&](std::int64_t n) {  // what is there is kept, whatever becomes of the rest
    const compare::Size* const before = find_before(n);
    if (before) take_over(*before), done += work_of(n);
    return before != nullptr;
  });
  for (const std::int64_t n : sizes) {
    if (request_.wants_limits() && (n == sizes.front() || n == sizes.back()))
      compare::keep_best(all_.limits, limits_of(contestants_, request_.setting.threads));
    compare::Size size;
    const auto say = [&](double share) { progress(std::min(1.0, (done + share * work_of(n)) / work)); };
    std::vector<Row> rows = measure(n, size, say);
    add(std::move(rows), std::move(size));
    done += work_of(n);
    judge();
    if (!request_.json.empty() && request_.json != "-") write_text(request_.json, json());
  }
  if (sizes.empty()) judge();
  if (!request_.json.empty() && (sizes.empty() || request_.json == "-")) write_text(request_.json, json());
}

/// In the order of sizes.
void Sweep::add(std::vector<Row> rows, compare::Size size) {
  for (Row& row : rows) all_.rows.push_back(std::move(row));
  all_.sizes.push_back(std::move(size));
  std::stable_sort(all_.rows.begin(), all_.rows.end(), [](const Row& a, const Row& b) { return a.key.n < b.key.n; });
  std::sort(all_.sizes.begin(), all_.sizes.end(), [](const auto& a, const auto& b) { return a.n < b.n; });
}

std::string Sweep::json() const {
  const Json beside = beside_ ? compare::drawn_beside(beside_->comparison, beside_->environment) : Json(nullptr);
  return cli::text_of(compare::as_json(all_, environment_, beside));
}

std::vector<Row> Sweep::measure(std::int64_t n, compare::Size& size, const std::function<void(double)>& say) {
  std::vector<Row> rows = measure_contestants(n, size, say);
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (const std::string& warning = contestants_[c].warning; !warning.empty()) rows[c].warnings.push_back(warning);
    if (contestants_[c].failed_validation) rows[c].failure_kind = Row::in_validation;
  }
  return rows;
}

/// What a plugin kernel does may end the process. A matrix that comes through a pipe comes once, and to this one.
std::vector<Row> Sweep::measure_contestants(std::int64_t n, compare::Size& size,
                                            const std::function<void(double)>& say) {
  const bool own = any_of(contestants_, [](const Contestant& c) { return is_plugin(c.name) && c.fault.empty(); });
  if (own && !worker::is_watched()) return run_size_in_worker(request_, contestants_, n, size, say);
  const Watch watch{.progress = say, .begins = [&](std::size_t c, std::int64_t n) {
                      worker::begin_run(contestants_[c].name, std::pow(double(n), 3) / 3);
                    }};
  return run_size(request_, contestants_, request_.matrix_of(n), size, watch);
}

void Sweep::try_backends() {
  Progress progress("trying the backends", request_.quiet);
  verify(request_, contestants_, [&](double share) { progress.say(share, std::nullopt); });
}

/// Sessions of one baseline are of one program on one machine.
void Sweep::add_to_baseline(const Earlier& more, const std::string& path) {
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
  if (more.comparison.setting.threads != baseline_->comparison.setting.threads)
    throw UsageError(fmt::format("--baseline: {} has another --threads than {}", path, request_.baselines[0]));
  if (!any_of(more.comparison.rows, [&](const Row& row) { return baseline_->comparison.find(row.key); }))
    throw UsageError(fmt::format("--baseline: {} has no row that {} has", path, request_.baselines[0]));
  compare::add_session(baseline_->comparison, more.comparison);
}

/// One has to be the CPU, the other CUDA, with times of the same size and precision.
void Sweep::draw_beside(Earlier other) {
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
      if (!c.baseline_solver) add(ours, n, c.precision);
  for (const Row& row : other.comparison.rows) {
    if (!row.timed() || row.is_baseline_solver) continue;
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

bool Sweep::is_asked_for(std::int64_t n) const { return sizes_.front() == 0 || contains(sizes_, n); }

/// The first row that is asked for and was not measured, in words; empty: all were.
std::string Sweep::lacking(std::int64_t n) const {
  for (const Contestant& c : contestants_)
    if (!before_->find(c.key(n))) return compare::in_words(c.key(n));
  return "";
}

/// Plugin kernels that were changed since are others. Those that are not here keep their place in the environment.
void Sweep::take_over_kernels(const Json& before) {
  for (const Json& was : before.value("own_kernels", Json::array())) {
    Json& here = environment_["own_kernels"];
    if (here.is_null()) here = Json::array();
    const auto* const is = find_in(here, [&](const Json& k) { return k["name"] == was["name"]; });
    if (!is) {
      here.push_back(was);
      continue;
    }
    for (const char* what : {"hash", "library_hash", "compiler", "command"})
      if (is->value(what, Json()) != was.value(what, Json()))
        throw UsageError(fmt::format("--resume: {} has times of another {}: {}: {} then, {} now", request_.json,
                                     was["name"].get<std::string>(), what, was.value(what, Json()).dump(),
                                     is->value(what, Json()).dump()));
  }
}

void Sweep::continue_with(Earlier before) {
  if (!(before.comparison.setting == request_.setting))
    throw UsageError(fmt::format("--resume: {} was measured with other options", request_.json));
  if (const std::string what = difference(before.environment, environment_); !what.empty())
    throw UsageError(fmt::format("--resume: {} was measured elsewhere: {}", request_.json, what));
  take_over_kernels(before.environment);
  before_ = std::move(before.comparison);
  for (const compare::Size& size : before_->sizes)
    if (is_asked_for(size.n) && !lacking(size.n).empty()) refuse_to_lose(size);
  for (const compare::Size& size : before_->sizes)
    if (is_asked_for(size.n) && !lacking(size.n).empty())
      measured_again_.push_back(
          fmt::format("--resume: n = {} was measured again, since the file had no {}", size.n, lacking(size.n)));
}

/// Rows of one size are measured together. Those of a size that is measured again would be gone, were they not asked for.
void Sweep::refuse_to_lose(const compare::Size& size) const {
  for (const Row* row : before_->at(size.n)) {
    const bool comes_again = any_of(contestants_, [&](const Contestant& c) { return c.key(size.n) == row->key; });
    if (!comes_again)
      throw UsageError(
          fmt::format("--resume: {0} has no {1} at n = {2}, so that all rows of this size are measured again, and {3} "
                      "is not among them: name it as well, or another file",
                      request_.json, lacking(size.n), size.n, compare::in_words(row->key)));
  }
}

/// The size, if it was measured with all that is asked for, or is not asked for.
const compare::Size* Sweep::find_before(std::int64_t n) const {
  if (!before_) return nullptr;
  for (const auto& size : before_->sizes)
    if ((n == 0 || size.n == n) && (!is_asked_for(size.n) || lacking(size.n).empty())) return &size;
  return nullptr;
}

/// With all of its rows: those that are not asked for, too.
void Sweep::take_over(const compare::Size& size) {
  std::vector<Row> rows;
  for (const Row* row : before_->at(size.n)) rows.push_back(*row);
  add(std::move(rows), size);
}

/// Verdicts against the baseline, and remarks.
void Sweep::judge() {
  all_.remarks = compare::remarks_on(all_);
  for (const Row& row : all_.rows)
    if (!row.adapter.empty())
      all_.remarks.push_back(
          fmt::format("{} in {} at n = {}: {}", all_.label_of(row), row.key.precision, row.key.n, row.adapter));
  if (request_.copies && !request_.setting.copies)
    all_.remarks.push_back("--copies: on the CPU there is nothing to copy");
  for (const auto& why : request_.left_out)
    all_.remarks.push_back(fmt::format("--baseline-solvers leaves out {}", why));
  for (const plugin::LeftOut& kernel : kernels_left_out())
    all_.remarks.push_back(fmt::format("--gemm leaves out {}", kernel.why));
  for (const auto& what : said_before(request_)) all_.remarks.push_back(what);
  all_.remarks.insert(all_.remarks.end(), measured_again_.begin(), measured_again_.end());
  if (beside_) remark_on_other_matrices(beside_->comparison, request_.beside);
  if (beside_)
    for (const auto& options : options_in(beside_->comparison))
      if (!contains(options_in(all_), options))
        all_.remarks.push_back(fmt::format("{} has rows with {}", request_.beside, options));
  if (!baseline_) return;
  if (const std::string what = difference(baseline_->environment, environment_); !what.empty())
    all_.remarks.push_back(fmt::format("the baseline was measured otherwise: {}", what));
  for (Row& row : all_.rows) {
    row.against_baseline = compare::verdict(baseline_->comparison, all_, row.key);
    row.why_no_verdict = row.against_baseline ? "" : compare::why_no_verdict(baseline_->comparison, all_, row.key);
  }
  for (auto& remark : compare::remarks_on_changes(baseline_->comparison, all_))
    all_.remarks.push_back(std::move(remark));
  remark_on_other_matrices(baseline_->comparison, "the baseline");
}

void Sweep::remark_on_other_matrices(const Comparison& other, const std::string& name) {
  for (const auto& size : all_.sizes)
    for (const auto& its : other.sizes)
      if (its.n == size.n && its.hash != size.hash && !its.hash.empty() && !size.hash.empty())
        all_.remarks.push_back(fmt::format("{} has another matrix at n = {}: {}", name, size.n, its.matrix));
}

}  // namespace lasolve::cli
