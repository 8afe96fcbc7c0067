#include "cli/tuning.hpp"

#include <algorithm>

#include "cli/json.hpp"
#include "cli/words.hpp"
#include "core/tuning.hpp"

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

bool is_of(const TuningField& f, Device::Kind kind) { return f.place == Device::automatic || f.place == kind; }

/// A device, its table, and the values that are asked for.
struct Tuned {
  Device device;
  const TuningTable* table;
  Tuning values;
};

Tuned tuned(const std::vector<TuningChange>& changes, const Options& options) {
  const Choice choice = choose(options);
  const Device device = choice.device();
  const bool cuda = device.kind == Device::cuda;
  const TuningTable& table = cuda ? tuning_for(device_properties(device.index)) : cpu_tuning();
  Tuned made{device, &table, table.values};
  for (const TuningChange& change : changes) {
    const TuningField& f = field_named(change.name);
    if (!is_of(f, device.kind))
      throw UsageError(fmt::format("--tune {}={}: only {} has it, and this runs on {}", f.name, change.value,
                                   name_of(Device::Kind(f.place)), name_of(device)));
    f.of(made.values) = change.value;
  }
  if (const std::string complaint = complaint_about(made.values); !complaint.empty())
    throw UsageError("--tune: " + complaint);
  return made;
}

std::string number_of(std::int64_t value) { return value == never ? "never" : std::to_string(value); }

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
  return tuned(request.tune, options).values;
}

std::string list_of_tuning(const Request& request) {
  const Tuned t = tuned(request.tune, request.options);
  std::string text = fmt::format("tuning of {}: table '{}', {}\n\n{:<30}{:>12}  {:<18}{}\n", name_of(t.device),
                                 t.values.family, t.table->measured, "name", "value", "unit", "what it decides");
  for (const TuningField& f : tuning_fields())
    if (is_of(f, t.device.kind))
      text += fmt::format("{:<30}{:>12}  {:<18}{}{}\n", f.name, number_of(f.in(t.values)), f.unit, f.decides,
                          f.in(t.values) == f.in(t.table->values) ? "" : "; by --tune");
  return text + "\nA value is set with --tune NAME=VALUE, in the library with Options::tuning.\n";
}

std::string tuning_as_json(const Request& request) {
  const Tuned t = tuned(request.tune, request.options);
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

}  // namespace lasolve::cli
