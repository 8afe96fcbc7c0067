#include "cli/tuning.hpp"

#include <fmt/format.h>
#include "cli/json.hpp"
#include "cli/print.hpp"
#include "cli/words.hpp"
#include "compare/tables.hpp"
#include "core/build.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "core/tuning.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"
#include "tuned/kept.hpp"

namespace lasolve::cli {

namespace {

const TuningField& field_named(std::string_view name) {
  std::vector<std::string> names;
  for (const TuningField& f : tuning_fields()) {
    if (f.name == name) return f;
    names.push_back(f.name);
  }
  throw UsageError(fmt::format("--tune: there is no '{}'{}; known: {}", name, did_you_mean(std::string(name), names),
                               fmt::join(names, ", ")));
}

bool is_of(const TuningField& f, Device::Kind kind) { return f.device == Device::automatic || f.device == kind; }

/// A device, its table, and the values that are asked for.
struct AskedFor {
  Device device;
  const TuningTable* table;
  Tuning values;
};

AskedFor asked_for(const std::vector<TuningChange>& changes, const Options& options) {
  const Choice choice = choose(options);
  const Device device = choice.device();
  const bool cuda = device.kind == Device::cuda;
  const TuningTable& table = cuda ? tuning_for(device_properties(device.index)) : cpu_tuning();
  AskedFor made{device, &table, table.values};
  for (const TuningChange& change : changes) {
    const TuningField& f = field_named(change.name);
    if (!is_of(f, device.kind))
      throw UsageError(fmt::format("--tune {}={}: only {} has it, and this runs on {}", f.name, change.value,
                                   name_of(Device::Kind(f.device)), name_of(device)));
    f.of(made.values) = change.value;
  }
  if (const std::string complaint = complaint_about(made.values); !complaint.empty())
    throw UsageError("--tune: " + complaint);
  return made;
}

std::string number_of(std::int64_t value) { return value == never ? "never" : std::to_string(value); }

/// Whether backend, block size and schedule are left open.
bool is_open(const Request& r) {
  const Options& o = r.options;
  return r.use_tuned && r.tune.empty() && r.backends == std::vector<std::string>{"auto"} && o.block_size == 0 &&
         o.schedule == Schedule::automatic;
}

/// Whether an accuracy leaves the precision of factors open.
bool picks_precision(const Options& o) {
  return o.accuracy > 0 && o.precision == Precision::automatic && o.storage == Precision::automatic &&
         o.refine == Refine::automatic;
}

/// Whether it is factored while it comes to the device, which is another thing than what was timed.
bool arrives(const Problem& problem, const Device& device) {
  return device.kind == Device::cuda && !problem.is_generated() &&
         8.0 * double(problem.n()) * double(problem.n()) >= double(tuning_of(device).arriving_bytes);
}

std::string why(const tuned::Entry& e) {
  const std::string where = fmt::format("{} at n = {}", in_words(e.key.method), e.key.n);
  if (e.is_default())
    return fmt::format("tuned: the default; in {} nothing else is faster by more than the noise (lasolve tune, {})",
                       where, e.date);
  return fmt::format("tuned: {}: {:.2f} times as fast as the default in {} (lasolve tune, {})", in_words(e.chosen),
                     e.speedup, where, e.date);
}

/// Notes of a choice that are about the device, not about the default backend, which is not what runs.
std::vector<std::string> notes_on_device(const Options& options, const Choice& choice) {
  Options on = options;
  on.device = choice.device();
  const auto others = choose(on).notes;
  std::vector<std::string> notes;
  for (const std::string& note : choice.notes)
    if (!contains(others, note)) notes.push_back(note);
  return notes;
}

}  // namespace

TuningChange tuning_change(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) throw UsageError(fmt::format("--tune takes NAME=VALUE, not '{}'", text));
  const TuningField& f = field_named(text.substr(0, equals));
  const std::string word = text.substr(equals + 1);
  const std::int64_t value = word == "never" ? never : number<std::int64_t>("tune " + f.name, word, f.least);
  if (value > never)
    throw UsageError(fmt::format("--tune {} takes at most {}, which is never, not '{}'", f.name, never, word));
  return {f.name, value};
}

std::optional<Tuning> tuning_asked_for(const Request& request, const Options& options) {
  if (request.tune.empty()) return std::nullopt;
  return asked_for(request.tune, options).values;
}

std::string list_of_tuning(const Request& request) {
  const AskedFor t = asked_for(request.tune, request.options);
  std::string text = fmt::format("tuning of {}: table '{}', {}\n\n{:<30}{:>12}  {:<18}{}\n", name_of(t.device),
                                 t.values.family, t.table->measured, "name", "value", "unit", "what it decides");
  for (const TuningField& f : tuning_fields())
    if (is_of(f, t.device.kind))
      text += fmt::format("{:<30}{:>12}  {:<18}{}{}\n", f.name, number_of(f.in(t.values)), f.unit, f.decides,
                          f.in(t.values) == f.in(t.table->values) ? "" : "; by --tune");
  return text + "\nA value is set with --tune NAME=VALUE, in the library with Options::tuning.\n";
}

std::string tuning_as_json(const Request& request) {
  const AskedFor t = asked_for(request.tune, request.options);
  Json fields = Json::array();
  for (const TuningField& f : tuning_fields())
    if (is_of(f, t.device.kind))
      fields.push_back({{"name", f.name}, {"value", f.in(t.values)}, {"unit", f.unit}, {"decides", f.decides}});
  return text_of({{"schema_version", 1},
                  {"device", name_of(t.device)},
                  {"family", t.values.family},
                  {"measured", t.table->measured},
                  {"never", never},
                  {"tuning", fields}});
}

std::string for_small(const tuned::Setting& s) {
  return s.small.empty() ? "" : fmt::format(" and {} below {:.2g} Mflop", s.small, 1e-6 * s.small_below);
}

std::string in_words(const tuned::Setting& s) {
  return fmt::format("{}{}, {}, panels of at most {} columns{}", s.gemm, for_small(s), name_of(s.schedule),
                     s.block_size, of_factors(s));
}

std::string of_factors(const tuned::Setting& s) {
  return s.precision == Precision::automatic ? "" : fmt::format(", factors in {}", name_of(s.precision));
}

tuned::Machine machine_of(const Device& device, int threads) {
  tuned::Machine machine{device.kind, processor(), 0, 0, "", version(), build_flags()};
  if (device.kind != Device::cuda) {
    machine.threads = Queue<Cpu>(threads).threads();
    return machine;
  }
  machine.name = cuda_devices().names.at(std::size_t(device.index));
  machine.capability = cuda_devices().capabilities.at(std::size_t(device.index));
  machine.driver = driver();
  return machine;
}

std::vector<std::string> take_tuned(Request& request, const Problem& problem) {
  if (!is_open(request)) return {};
  const tuned::Kept kept = tuned::read(tuned::path_in_cache());
  if (!kept.complaint.empty()) return {kept.complaint};
  if (kept.entries.empty()) return {};
  Options& o = request.options;
  const Choice choice = choose(o);
  if (arrives(problem, choice.device())) return {};
  const Method method = problem.method_for(o);
  const tuned::Machine machine = machine_of(choice.device(), o.threads);
  const bool picks = picks_precision(o);
  const tuned::Entry* const e = tuned::nearest(
      kept.entries, {machine, picks ? Precision::fp64 : o.precision, method, problem.n(), picks ? o.accuracy : 0});
  if (!e || e->by_default.gemm != choice.name()) return {};  // it is said to be faster than another default
  if (e->is_default()) return {why(*e)};
  const bool picked = e->chosen.precision != Precision::automatic;
  const auto here = runnable_backends(
      choice.device(), picked ? find_solve_precision(e->chosen.precision)->products : request.products_in());
  const auto is_here = [&](const std::string& name) { return contains(here, name); };
  if (!is_here(e->chosen.gemm) || !(e->chosen.small.empty() || is_here(e->chosen.small)) ||
      !is_offered(method, e->chosen.schedule))
    return {};
  std::vector<std::string> notes = notes_on_device(o, choice);
  o.device = choice.device();
  o.schedule = e->chosen.schedule, o.block_size = e->chosen.block_size;
  if (picked) o.precision = e->chosen.precision;
  request.backends = {e->chosen.gemm};
  request.tuned = e->chosen;
  notes.push_back(why(*e));
  return notes;
}

std::string list_of_tuned(const Request& request) {
  const std::string path = tuned::path_in_cache();
  const tuned::Kept kept = tuned::read(path);
  if (!kept.complaint.empty()) return kept.complaint + "\n";
  if (kept.entries.empty()) return "nothing is kept; 'lasolve tune' finds what is fastest here\n";
  const tuned::Machine here = machine_of(choose(request.options).device(), request.options.threads);
  compare::Table table{
      {{"n"}, {"method", true}, {"precision", true}, {"chosen", true}, {"faster"}, {"tuned on", true}, {"used", true}}};
  for (const tuned::Entry& e : kept.entries) {
    const std::string other = tuned::difference(e.key.machine, here);
    const std::string to = e.key.accuracy > 0 ? fmt::format(" to {:.2g}", e.key.accuracy) : "";
    table.lines.push_back({std::to_string(e.key.n), in_words(e.key.method), name_of(e.key.precision) + to,
                           e.is_default() ? "the default" : in_words(e.chosen),
                           e.is_default() ? "" : fmt::format("{:.2f} x", e.speedup), e.date,
                           other.empty() ? "yes" : "no: " + other});
  }
  return fmt::format("{}\nfaster: than the default; used: by solves on this machine{}\n{}\n", compare::as_text(table),
                     here.device == Device::cpu ? fmt::format(" with {} threads", here.threads) : "", path);
}

std::string tuned_as_json() {
  const tuned::Kept kept = tuned::read(tuned::path_in_cache());
  if (!kept.complaint.empty()) fmt::print(stderr, "lasolve: {}\n", kept.complaint);
  return text_of(tuned::as_json(kept.entries));
}

}  // namespace lasolve::cli
