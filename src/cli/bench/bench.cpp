#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/bench/print.hpp"
#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/words.hpp"
#include "core/range.hpp"
#include "core/stopwatch.hpp"
#include "io/output_file.hpp"
#include "lasolve/names.hpp"
#include "plugin/backends.hpp"
#include "worker/verify.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// What `lasolve bench gemm` is asked for.
struct BenchRequest {
  bool quiet = false;
  std::vector<std::string> backends;  // names, or all
  std::vector<Device> devices;
  std::vector<Precision> precisions;  // none: those that a reference offers
  std::vector<bench::Product> products;
  bench::Settings settings;
  int patience = 60;  // seconds
  std::string json, csv;
  std::vector<std::string> words;  // of the command line, behind the name of the program
};

/// What backends may offer.
std::vector<std::string> words_of_products() {
  std::vector<Precision> all;
  for_each_precision([&](auto P) { all.push_back(P); });
  return words_of(all);
}

const Table<BenchRequest>& bench_table() {
  using R = BenchRequest;
  using O = OptionOf<R>;
  static const Table<R> all = {
      O("gemm", 'g', "NAMES", "all",
        "the GEMM backends: a,b,c or all; 'lasolve list' has the names; ./mine.c, ./mine.cpp, ./mine.cu or "
        "./libmine.so is a kernel of your own"),
      O("device", 'd', "DEVICES", "auto", words_of_devices,
        "or a list of them; auto: CUDA, else the CPU; both for --copies"),
      O("precision", 'p', "TYPES", "auto", {"auto", "fp64", "fp32", "tf32", "fp16", "bf16"},
        "or a list of them; auto: those of the reference")
          .to([](R& r, auto& list) {
            if (list == "auto") return;
            for (const auto& word : split(list))
              r.precisions.push_back(enumerator_of<Precision>("precision", words_of_products(), word));
          }),
      O("shape", 's', "SHAPES", "square,trailing", {"square", "trailing", "MxNxK"},
        "or a list of them; square: C = A·B; trailing: C = C - A·B; MxNxK: C = A·B"),
      O("n", 'n', "SIZES", "auto", "M = N = K of square, M = N of trailing: 1k,3000, or 1k:16k:x2, or 1000:5000:1000"),
      O("k", 'k', "SIZES", "auto", "K of trailing: sizes of a panel"),
      O("copies", 0, "time on a device from host to host: allocation, copies and free count")
          .was("--with-copies")
          .to([](R& r, auto&) { r.settings.with_copies = true; }),
      O("threads", 0, "COUNT", "all", "cores of the host to use").to([](R& r, auto& word) {
        r.settings.threads = threads_of(word);
      }),
      O("repeat", 0, "COUNT", "auto",
        "timed rounds; the median is reported; auto: 5, fewer for a backend that has run for half a second")
          .to([](R& r, auto& word) {
            if (const int repeat = number("repeat", word, 1, "auto"); repeat > 0)
              r.settings.repeat = repeat;
            else
              r.settings.enough_seconds = 0.5;
          }),
      O("warmup", 0, "COUNT", "1", "rounds before them that are not counted").to([](R& r, auto& word) {
        r.settings.warmup = number("warmup", word, 0);
      }),
      patience_option<R>(),
      json_option<R>("write the results as JSON to FILE; - is standard output"),
      O("csv", 0, "FILE", "write the results as CSV to FILE; - is standard output").to(&R::csv),
      quiet_option<R>("no table for people"),
      help_option<R>(),
  };
  return all;
}

std::vector<Device> devices_of(const std::string& list, bool with_copies) {
  if (list == "auto" && with_copies)
    if (const Device device = automatic_device(); device.kind == Device::cuda) return {{Device::cpu, 0}, device};
  std::vector<Device> devices;
  for (const auto& word : split(list)) devices.push_back(device_of(word));
  if (devices.size() > 1)
    for (const Device& d : devices)
      if (d.kind == Device::automatic) throw UsageError("--device auto stands alone");
  int cuda_index = -1;
  for (const Device& d : devices) {
    if (d.kind != Device::cuda) continue;
    if (cuda_index >= 0 && d.index != cuda_index) throw UsageError("--device takes one CUDA device at a time");
    cuda_index = d.index;
  }
  return devices;
}

std::vector<std::int64_t> sizes_or(const char* option, const std::string& list, std::vector<std::int64_t> automatic) {
  return list == "auto" ? automatic : sizes_of(list, option);
}

/// Sizes that take seconds for the simplest kernel of the device.
std::vector<bench::Product> products_of(const std::string& shapes, const std::string& n, const std::string& k,
                                        bool cuda) {
  using Sizes = std::vector<std::int64_t>;
  const auto words = split(shapes);
  const auto asked = [&](const char* shape) { return contains(words, shape); };
  if (k != "auto" && !asked("trailing")) throw UsageError("--k is for --shape trailing");
  if (n != "auto" && !asked("trailing") && !asked("square"))
    throw UsageError("--n is for --shape square and --shape trailing");
  std::vector<bench::Product> products;
  for (const auto& word : words) {
    if (word == "square") {
      const Sizes automatic = cuda ? Sizes{1024, 2048, 4096, 8192} : Sizes{256, 512, 1024};
      for (auto size : sizes_or("n", n, automatic)) products.push_back(bench::square(size));
    } else if (word == "trailing") {
      for (auto size : sizes_or("n", n, {cuda ? 16384 : 1024}))
        for (auto panel : sizes_or("k", k, cuda ? Sizes{128, 256, 512} : Sizes{64, 128, 256}))
          products.push_back(bench::trailing(size, panel));
    } else if (const auto product = bench::parse_product(word)) {
      products.push_back(*product);
    } else {
      throw UsageError(fmt::format("--shape takes square, trailing or MxNxK, such as 4096x4096x128, not '{}'{}", word,
                                   did_you_mean(word, {"square", "trailing"})));
    }
  }
  return products;
}

/// Whether all that is measured is on CUDA.
bool only_on_cuda(const std::vector<Device>& devices, const std::vector<std::string>& backends) {
  if (devices.size() != 1 || devices[0].kind != Device::automatic)
    return devices.size() == 1 && devices[0].kind == Device::cuda;
  const Device device = automatic_device();
  if (device.kind == Device::cpu) return false;
  const auto there = runnable_backends(device);
  return all_of(backends,
                [&](const std::string& name) { return name == "all" || name == "auto" || contains(there, name); });
}

BenchRequest parse_bench(int argc, const char* const* argv) {
  BenchRequest r;
  r.words.assign(argv, argv + argc);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "--help" || what == "-h" || what == "help") throw HelpAsked();
  if (what != "gemm")
    throw UsageError(what.empty() || what[0] == '-'
                         ? "bench takes what is to be measured: lasolve bench gemm"
                         : fmt::format("bench takes gemm, not '{}'{}", what, did_you_mean(what, {"gemm"})));
  const Given given = parse_options(argc - 1, argv + 1, bench_table(), r);
  refuse_files_named_twice({}, {{"json", r.json}, {"csv", r.csv}});
  r.devices = devices_of(given.text("device"), r.settings.with_copies);
  const auto* const cuda = find_in(r.devices, [](const Device& d) { return d.kind == Device::cuda; });
  r.backends = backends_named(given.text("gemm"), r.patience, cuda ? *cuda : r.devices.front());
  if (r.devices.size() == 1) r.devices[0] = device_for(r.backends, r.devices[0]);
  r.products = products_of(given.text("shape"), given.text("n"), given.text("k"), only_on_cuda(r.devices, r.backends));
  return r;
}

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
    auto* const same = find_in(all_, [&](const Entrant& e) {
      return e.name() == entrant.name() && e.choice.device_name() == entrant.choice.device_name();
    });
    if (!same) return all_.push_back(std::move(entrant));
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
    if (!any_of(asked, [=](const Entrant& e) { return e.choice.offers(precision); }))
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
    if (any_of(entrants, [=](const Entrant& e) { return e.reference && e.choice.offers(P); })) all.push_back(P);
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
        const worker::RedirectedOutput what_kernels_print;
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

/// Reports to the process that watches this one.
void tell_of_runs(bench::Settings& settings) {
  settings.lost = worker::lost_kernels();
  settings.begins = [](const Entrant& e, const bench::Product& p) { worker::begin_run(e.name(), 0.5 * p.flops()); };
  settings.ends = worker::end_run;
  settings.spoilt = [](const Entrant& e, const std::string& how) { worker::give_up(e.name(), how); };
}

}  // namespace

std::vector<Option> bench_options() { return listed_in(bench_table()); }

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
