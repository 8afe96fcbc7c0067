#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/bench_print.hpp"
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "io/output_file.hpp"

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

  /// Each once at each place.
  void add(Choice choice, bool reference) {
    Entrant entrant{std::move(choice), reference};
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const Entrant& e) {
      return e.name() == entrant.name() && e.choice.device() == entrant.choice.device();
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
std::vector<Precision> precisions_of(const BenchRequest& request, const std::vector<Entrant>& entrants) {
  std::vector<Precision> all = request.precisions;
  if (!all.empty()) return all;
  for_each_precision([&](auto P) {
    if (std::any_of(entrants.begin(), entrants.end(),
                    [=](const Entrant& e) { return e.reference && e.choice.offers(P); }))
      all.push_back(P);
  });
  return all;
}

void require_writable(const std::string& path) {
  if (!path.empty() && path != "-") io::OutputFile(path, false);
}

}  // namespace

int bench_gemm(const BenchRequest& request) {
  if (request.help) {
    fmt::print("{}", bench_help());
    return done;
  }
  const std::vector<Entrant> entrants = entrants_of(request);
  require_writable(request.json);
  require_writable(request.csv);
  const bool talk = !request.quiet && request.json != "-" && request.csv != "-";
  if (talk)
    for (const Entrant& e : entrants)
      for (const auto& note : e.choice.notes) fmt::print("note: {}\n", note);
  bench::GemmBench gemms(entrants, request.settings);
  if (talk) fmt::print("{}", bench_header(request.settings.with_copies));
  std::vector<Result> all;
  int code = done;
  for (const Precision precision : precisions_of(request, entrants))
    for (const auto& product : request.products) {
      const std::vector<Result> results = gemms.run(product, precision);
      if (talk) fmt::print("{}", bench_lines(results));
      std::fflush(stdout);  // a table that grows says how far it is
      for (const Result& r : results)
        if (!r.fault.empty()) {
          code = not_accurate;
          fmt::print(stderr, "lasolve: {} on {} is wrong: {}\n", r.backend, r.device, r.fault);
        }
      all.insert(all.end(), results.begin(), results.end());
    }
  if (talk) fmt::print("{}", bench_legend(gemms, all, request.settings));
  if (!request.json.empty()) write_text(request.json, bench_json(gemms, all, request.settings));
  if (!request.csv.empty()) write_text(request.csv, bench_csv(all));
  return code;
}

}  // namespace lasolve::cli
