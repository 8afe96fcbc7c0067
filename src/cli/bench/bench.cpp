#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/bench/print.hpp"
#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "core/stopwatch.hpp"
#include "io/output_file.hpp"
#include "lasolve/names.hpp"
#include "plugin/backends.hpp"
#include "worker/verify.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

using bench::Entrant;
using bench::Result;

Choice choose_on(const Device& device, const std::string& name) {
  Options options;
  options.device = device;
  options.gemm = name;
  return choose(options);
}

class Entrants {
 public:
  const std::vector<Entrant>& all() const { return all_; }

  /// Each once on each device.
  void add(Choice choice, bool reference) {
    const bool own = is_plugin(choice.name());
    Entrant entrant{std::move(choice), reference, own};
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const Entrant& e) {
      return e.name() == entrant.name() && e.choice.device_name() == entrant.choice.device_name();
    });
    if (same == all_.end()) return all_.push_back(std::move(entrant));
    same->reference |= reference;
  }
  /// A name, on those of several devices that have it.
  void add_named(const std::string& name, const std::vector<Device>& devices) {
    std::string why_not;
    bool runs = false;
    for (const Device& device : devices) {
      try {
        add(choose_on(device, name), false);
        runs = true;
      } catch (const MachineError& e) {
        why_not = e.what();
      }
    }
    if (!runs) throw MachineError(why_not);
  }

 private:
  std::vector<Entrant> all_;
};

std::vector<Entrant> entrants_of(const BenchRequest& request) {
  Entrants entrants;
  std::vector<Device> devices = request.devices;
  if (devices.size() > 1)  // a device that is not there is an error, though another is
    for (const Device& device : devices) choose_on(device, "auto");
  if (request.backends.front() == "all") {
    for (const Device& device : devices)
      for (const auto& name : runnable_backends(device)) {
        Choice choice = choose_on(device, name);
        choice.notes.clear();  // no name was asked for
        entrants.add(std::move(choice), false);
      }
    if (entrants.all().empty()) choose_on(devices.front(), "auto");  // says why nothing runs there
  } else {
    for (const auto& name : request.backends) entrants.add_named(name, devices);
  }
  const std::vector<Entrant> asked = entrants.all();
  for (const Precision precision : request.precisions)
    if (std::none_of(asked.begin(), asked.end(), [=](const Entrant& e) { return e.choice.offers(precision); }))
      throw UsageError(fmt::format("none of these GEMM backends offers {}; 'lasolve list' says what each offers",
                                   name_of(precision)));
  for (const Entrant& e : asked)
    entrants.add(choose_on(e.on_cuda() ? Device{Device::cuda, e.choice.cuda_device} : Device{Device::cpu, 0}, "auto"),
                 true);
  return entrants.all();
}

/// Those asked for; else those in which there is a reference to compare with.
std::vector<Precision> precisions_to_measure(const BenchRequest& request, const std::vector<Entrant>& entrants) {
  std::vector<Precision> all = request.precisions;
  if (!all.empty()) return all;
  for_each_precision([&](auto P) {
    if (std::any_of(entrants.begin(), entrants.end(),
                    [=](const Entrant& e) { return e.reference && e.choice.offers(P); }))
      all.push_back(P);
  });
  return all;
}

/// What is printed for people: at once, so that a table that grows says how far it is. In a process that kernels may end it waits until
/// all is done, since the process that comes next says it, too.
class Paper {
 public:
  explicit Paper(bool talks) : talks_(talks) {}
  ~Paper() { fmt::print("{}", waiting_); }
  Paper(const Paper&) = delete;
  Paper& operator=(const Paper&) = delete;

  void print(const std::string& text) {
    if (!talks_) return;
    if (worker::is_watched()) {
      waiting_ += text;
      return;
    }
    fmt::print("{}", text);
    std::fflush(stdout);
  }

 private:
  bool talks_;
  std::string waiting_;
};

/// Whether all are right. Says what is wrong as it is found.
bool verify(bench::GemmBench& gemms, const std::vector<Entrant>& entrants, const BenchRequest& request,
            const std::vector<Precision>& precisions, Paper& paper) {
  int kernels = 0, wrong = 0, left_out = 0, all = 0;
  for (const Entrant& e : entrants)
    for (const Precision p : precisions) all += e.choice.offers(p);
  Stopwatch watch;
  Progress progress("trying the backends", request.quiet);
  gemms.verify(request.products, precisions, [&](const Entrant& e, Precision, const bench::Verdict& verdict) {
    ++kernels;
    progress.say(double(kernels) / all, std::nullopt);  // one may take ten times as long as another
    left_out += verdict.left_out;
    if (!verdict.fault) return;
    progress.hide();
    ++wrong;
    if (worker::lost_kernels().empty()) say_what_is_wrong(e.choice, *verdict.fault);  // else that was done before
  });
  progress.hide();
  paper.print(
      fmt::format("conformance: {} kernels in {:.1f} s, {}{}\n", kernels, watch.seconds(),
                  wrong == 0 ? "all are right" : fmt::format("{} wrong", wrong),
                  left_out == 0 ? "" : fmt::format("; {} products left out, for which there is no memory", left_out)));
  return wrong == 0;
}

/// Columns are as wide as the longest name.
std::size_t longest_name(const std::vector<Entrant>& entrants) {
  std::size_t longest = 0;
  for (const Entrant& e : entrants) longest = std::max(longest, e.name().size());
  return longest;
}

/// How far the timing is, by the operations of the products.
class Timing {
 public:
  explicit Timing(const BenchRequest& request) : request_(request), progress_("timing", request.quiet) {}

  void begin(Precision precision, const bench::Product& product, std::size_t precisions) {
    total_ = 0;
    for (const auto& p : request_.products) total_ += double(precisions) * work_of(p);
    work_ = work_of(product);
    now_ = fmt::format("{} {} x {} x {}", name_of(precision), product.m, product.n, product.k);
  }
  void say(double share) { progress_((done_ + share * work_) / total_, now_); }
  void end() {
    done_ += work_;
    progress_.hide();
  }

 private:
  /// Its rounds take something, be it ever so small.
  static double work_of(const bench::Product& p) { return p.flops() + 1e8; }

  const BenchRequest& request_;
  Progress progress_;
  double total_ = 1, done_ = 0, work_ = 0;
  std::string now_;
};

int bench_gemm(const BenchRequest& request) {
  const std::vector<Entrant> entrants = entrants_of(request);
  for (const std::string& path : {request.json, request.csv})
    if (!path.empty()) io::require_writable(path);
  Paper paper(!request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.csv));
  for (const Entrant& e : entrants)
    for (const auto& note : e.choice.notes) paper.print(fmt::format("note: {}\n", note));
  Timing timing(request);
  bench::Settings settings = request.settings;
  settings.progress = [&](double share) { timing.say(share); };
  bench::GemmBench gemms(entrants, settings);
  const std::vector<Precision> precisions = precisions_to_measure(request, entrants);
  int code = verify(gemms, entrants, request, precisions, paper) ? done : not_accurate;
  const std::size_t width = longest_name(entrants);
  paper.print(bench_header(request.settings.with_copies, width));
  std::vector<Result> all;
  for (const Precision precision : precisions)
    for (const auto& product : request.products) {
      timing.begin(precision, product, precisions.size());
      const std::vector<Result> results = [&] {
        const worker::Aside what_kernels_print;
        return gemms.run(product, precision);
      }();
      timing.end();
      for (const Result& r : results)
        if (r.fault) code = not_accurate;
      paper.print(bench_lines(results, width));
      all.insert(all.end(), results.begin(), results.end());
    }
  paper.print(bench_legend(gemms, all, request.settings));
  paper.print(grade_lines(all));
  for (const Entrant& e : entrants)
    if (const std::string note = adapter_note(e.name()); !note.empty())
      paper.print(fmt::format("note: {}: {}\n", e.name(), note));
  if (!request.json.empty()) write_text(request.json, bench_json(gemms, all, request.settings));
  if (!request.csv.empty()) write_text(request.csv, bench_csv(all));
  return code == done ? code_of_what_is_left_out() : code;
}

/// What a process hears that watches this one.
void tell_of_runs(bench::Settings& settings) {
  settings.lost = worker::lost_kernels();
  settings.begins = [](const Entrant& e, const bench::Product& p) { worker::begin_run(e.name(), 0.5 * p.flops()); };
  settings.ends = worker::end_run;
  settings.spoilt = [](const Entrant& e, const std::string& how) { worker::give_up(e.name(), how); };
}

}  // namespace

int bench_command(int argc, const char* const* argv) {
  BenchRequest request = parse_bench(argc, argv);
  request.settings.verify = [&](const bench::Task& task) { return worker::verify(task, request.patience); };
  request.settings.after_call = [] { plugin::require_intact(); };
  if (worker::has_to_watch(request.backends))
    return worker::watch(
        {.words = request.words, .backends = request.backends, .run = "timed product", .patience = request.patience});
  tell_of_runs(request.settings);
  return bench_gemm(request);
}

}  // namespace lasolve::cli
