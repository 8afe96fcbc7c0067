#include "compare/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "compare/attribution.hpp"
#include "compare/beside.hpp"
#include "core/range.hpp"
#include "io/input_error.hpp"
#include "lasolve/names.hpp"

namespace lasolve::compare {

namespace {

constexpr int schema_version = 1;

Json median_or_null(const std::vector<double>& samples) {
  return samples.empty() ? Json(nullptr) : or_null(bench::spread_of(samples).median);
}

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

Json object(const Setting& s) {
  return {{"matrix", s.matrix},      {"threads", s.threads},
          {"warmup", s.warmup},      {"least_visits", s.least_visits},
          {"most_visits", s.visits}, {"most_runs", s.rounds},
          {"noise", s.noise},        {"enough_seconds", s.enough_seconds},
          {"seed", s.seed},          {"copies", s.copies},
          {"factorization", "auto"}, {"schedule", "auto"},
          {"block_size", 0}};
}

Json object(const Limit& l) {
  return {{"device", l.device},
          {"precision", l.precision},
          {"flops_per_second", l.roof.flops_per_second},
          {"bytes_per_second", l.roof.bytes_per_second}};
}

Json object(const bench::Clocks& c) { return c.most > 0 ? Json{{"least", c.least}, {"most", c.most}} : Json(nullptr); }

Json object(const bench::Yardstick& y) {
  return {{"alone", y.alone}, {"together", y.on_all_threads}, {"launches", y.launches}};
}

Json object(const TaskTime& t, const std::string& precision, const std::optional<bench::Roof>& roof) {
  Json json = {{"what", t.what},       {"phase", name_of(t.phase)}, {"block", t.block}, {"begin", t.begin},
               {"seconds", t.seconds}, {"flops", t.flops},          {"lane", t.lane}};
  if (is_update(t)) json.update({{"m", t.m}, {"n", t.n}, {"k", t.k}, {"gflops", t.gflops()}});
  if (is_update(t) && t.quartiles[1] > 0) json["seconds_quartiles"] = t.quartiles;
  if (is_update(t) && roof) json["least_seconds"] = floor_seconds(t, precision, *roof);
  return json;
}

Json attribution(const Row& r, const std::optional<bench::Roof>& roof) {
  const FreeUpdates free = free_updates(r);
  const auto exclusive = exclusive_seconds(r);
  Json phases = Json::object(), flops = Json::object(), tasks = Json::array();
  Json alone = exclusive ? Json::object() : Json(nullptr);
  for (std::size_t p = 0; p < phase_count; ++p) {
    if (r.phases.seconds[p] > 0) phases[name_of(Phase(p))] = r.phases.seconds[p];
    if (exclusive && (*exclusive)[p] > 0) alone[name_of(Phase(p))] = (*exclusive)[p];
    if (r.phases.flops[p] > 0) flops[name_of(Phase(p))] = r.phases.flops[p];
  }
  for (const TaskTime& t : r.tasks) tasks.push_back(object(t, r.key.precision, roof));
  return {{"wall_seconds", r.total_seconds},
          {"phases_busy_seconds", phases},
          {"phases_exclusive_seconds", alone},
          {"phase_flops", flops},
          {"phases_overlap", !free.exact},
          {"seconds_if_updates_were_free", or_null(free.seconds)},
          {"speedup_if_updates_were_free",
           free.seconds && *free.seconds > 0 ? Json(r.total_seconds / *free.seconds) : Json(nullptr)},
          {"seconds_at_the_roofline", or_null(roof ? seconds_at_roof(r, *roof) : std::nullopt)},
          {"tasks", tasks}};
}

Json object(const bench::Change& c) {
  return {{"verdict", word_of(c)},           {"shift", c.shift},
          {"low", or_null(c.low)},           {"high", or_null(c.high)},
          {"visible", or_null(c.visible)},   {"machine", c.machine},
          {"of_processors", c.of_processors}};
}

Json object(const Comparison& all, const Row& r, const std::optional<bench::Roof>& roof) {
  const Row& first = *all.at(r.key.n).front();
  const bench::Spread spread = bench::spread_of(r.seconds);
  const bool timed = r.timed(), ours = timed && !r.is_baseline_solver;
  const auto over_first = timed && first.timed() ? std::optional(beside(r, first)) : std::nullopt;
  const auto if_timed = [&](double x) { return timed ? or_null(x) : Json(nullptr); };
  return {{"n", r.key.n},
          {"gemm", r.key.gemm},
          {"precision", r.key.precision},
          {"device", r.key.device},
          {"options", r.key.options},
          {"name", all.label_of(r)},
          {"peer", r.is_baseline_solver},
          {"passed", r.passed()},
          {"failure", or_null(r.failure)},
          {"failure_kind", or_null(r.failure_kind)},
          {"for_want_of_machine", r.for_want_of_machine},
          {"fell_back_to", or_null(r.fell_back_to)},
          {"runs", r.seconds.size()},
          {"runs_of_visits", r.visits},
          {"seconds", if_timed(spread.median)},
          {"seconds_least", if_timed(spread.least)},
          {"seconds_most", if_timed(spread.most)},
          {"quartiles_apart", if_timed(bench::interquartile_range(r.seconds))},
          {"noise", if_timed(bench::noise_of(r.seconds))},
          {"speedup_over_first", over_first ? Json(1 / (1 + over_first->shift)) : Json(nullptr)},
          {"against_first", over_first ? object(*over_first) : Json(nullptr)},
          {"gemm_seconds", ours ? Json(r.gemm_seconds()) : Json(nullptr)},
          {"gemm_gflops", ours ? Json(r.gemm_gflops()) : Json(nullptr)},
          {"gemm_share", ours ? Json(r.gemm_share()) : Json(nullptr)},
          {"backward_error", or_null(r.backward_error)},
          {"componentwise_backward_error", or_null(r.componentwise_error)},
          {"forward_error", or_null(r.forward_error)},
          {"hpl_residual", or_null(r.hpl_residual)},
          {"factorization", r.factorization},
          {"schedule", r.schedule},
          {"block_size", r.block_size},
          {"recipe", or_null(r.recipe)},
          {"refine_iterations", r.refine_iterations},
          {"refinement_residuals", r.refinement_residuals},
          {"against_baseline", r.against_baseline ? object(*r.against_baseline) : Json(nullptr)},
          {"why_no_verdict", or_null(r.why_no_verdict)},
          {"seconds_of_runs", r.seconds},
          {"factor_seconds_of_runs", r.factor_seconds},
          {"gemm_seconds_of_runs", r.gemm_seconds_of_runs},
          {"processor_seconds_of_runs", r.processor_seconds},
          {"seconds_from_host", r.seconds_from_host},
          {"median_seconds_from_host", median_or_null(r.seconds_from_host)},
          {"attribution", ours ? attribution(r, roof) : Json(nullptr)},
          {"slowed", or_null(r.slowed)},
          {"notes", r.notes},
          {"warnings", r.warnings},
          {"adapter", or_null(r.adapter)},
          {"adapter_share", or_null(r.adapter_share)},
          {"adapter_work", or_null(r.adapter_work)}};
}

/// Of each size, each row beside each of those before it.
Json pairs_of(const Comparison& all) {
  Json pairs = Json::array();
  for (const Size& size : all.sizes) {
    const std::vector<const Row*> rows = all.at(size.n);
    std::vector<Json> names;
    for (const Row* r : rows)
      names.push_back({{"gemm", r->key.gemm}, {"precision", r->key.precision}, {"name", all.label_of(*r)}});
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (rows[i]->timed() && rows[j]->timed())
          pairs.push_back(
              {{"n", size.n}, {"row", names[i]}, {"beside", names[j]}, {"change", object(beside(*rows[i], *rows[j]))}});
  }
  return pairs;
}

Phase phase_in(const Json& json) { return parse<Phase>(json.get<std::string>()).value_or(Phase::other); }

TaskTime task_in(const Json& json) {
  TaskTime t{json.at("what"),  json.at("block"),   phase_in(json.at("phase")),
             json.at("begin"), json.at("seconds"), json.at("flops")};
  if (json.contains("m")) t.m = json.at("m"), t.n = json.at("n"), t.k = json.at("k");
  t.lane = json.value("lane", "");                                         // older files have none
  t.quartiles = json.value("seconds_quartiles", std::array<double, 3>{});  // older files have none
  return t;
}

void read_attribution(const Json& json, Row& r) {
  r.total_seconds = json.at("wall_seconds");
  for (const auto& [name, seconds] : json.at("phases_busy_seconds").items())
    if (const auto phase = parse<Phase>(name)) r.phases.seconds_of(*phase) = seconds;
  for (const auto& [name, flops] : json.at("phase_flops").items())
    if (const auto phase = parse<Phase>(name)) r.phases.flops[std::size_t(*phase)] = flops;
  for (const Json& task : json.at("tasks")) r.tasks.push_back(task_in(task));
}

/// Older files have one for all rows.
std::map<std::string, std::string> options_of_all(const Json& setting) {
  std::map<std::string, std::string> options;
  for (const char* const name : {"factorization", "schedule"})
    if (const std::string word = setting.value(name, "auto"); word != "auto") options[name] = word;
  if (const auto columns = setting.value("block_size", std::int64_t(0)); columns > 0)
    options["block-size"] = std::to_string(columns);
  return options;
}

Row row_in(const Json& json, const std::map<std::string, std::string>& options_of_all) {
  Row r;
  r.key = {json.at("gemm"), json.at("precision"), json.at("device"), json.at("n")};
  r.key.options = json.value("options", options_of_all);
  r.is_baseline_solver = json.at("peer");
  if (r.is_baseline_solver) {
    r.key.options.erase("schedule"), r.key.options.erase("block-size");
    const auto method = r.key.options.find("factorization");
    if (method != r.key.options.end() && method->second == "lu-nopivot")
      method->second = "lu";  // as older files have it
  }
  if (r.is_baseline_solver && r.key.gemm.ends_with(" (peer)"))
    r.key.gemm.replace(r.key.gemm.size() - 7, 7, " (solver)");  // files of the release before
  if (!json.at("passed").get<bool>()) r.failure = json.at("failure");
  if (const Json kind = json.value("failure_kind", Json()); kind.is_string())
    r.failure_kind = kind == "trial"
                         ? Row::in_validation
                         : kind.get<std::string>();  // as the release before wrote it; older files have none
  r.for_want_of_machine = json.value("for_want_of_machine", false);  // older files have none
  r.seconds = json.at("seconds_of_runs").get<std::vector<double>>();
  r.factor_seconds = json.at("factor_seconds_of_runs").get<std::vector<double>>();
  r.gemm_seconds_of_runs = json.at("gemm_seconds_of_runs").get<std::vector<double>>();
  r.seconds_from_host = json.value("seconds_from_host", std::vector<double>());          // older files have none
  r.processor_seconds = json.value("processor_seconds_of_runs", std::vector<double>());  // older files have none
  r.visits = json.value("runs_of_visits", std::vector<int>());                           // older files have none
  if (!r.visits.empty() && (std::accumulate(r.visits.begin(), r.visits.end(), std::size_t(0)) != r.seconds.size() ||
                            *std::min_element(r.visits.begin(), r.visits.end()) < 1))
    throw Unfit("runs_of_visits do not add up to the runs");
  r.backward_error = number(json.at("backward_error"));
  r.hpl_residual = number(json.at("hpl_residual"));
  r.componentwise_error = number(json.value("componentwise_backward_error", Json()));  // older files have none
  r.forward_error = number(json.value("forward_error", Json()));                       // older files have none
  r.factorization = json.at("factorization");
  r.schedule = json.at("schedule");
  r.block_size = json.at("block_size");
  r.refine_iterations = json.at("refine_iterations");
  r.refinement_residuals = json.value("refinement_residuals", std::vector<double>());  // older files have none
  r.slowed = number(json.value("slowed", Json()));                                     // older files have none
  r.notes = json.at("notes").get<std::vector<std::string>>();
  const auto text = [&](const char* name) {  // older files have none
    const auto it = json.find(name);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  r.adapter = text("adapter"), r.adapter_work = text("adapter_work");
  r.adapter_share = number(json.value("adapter_share", Json()));
  r.fell_back_to = text("fell_back_to"), r.recipe = text("recipe");
  r.warnings = json.value("warnings", std::vector<std::string>());
  if (!json.at("attribution").is_null()) read_attribution(json.at("attribution"), r);
  return r;
}

/// Older files have none.
bench::Yardstick yardstick_in(const Json& size) {
  const auto it = size.find("yardstick_seconds");
  if (it == size.end()) return {};
  return {it->at("alone").get<std::vector<double>>(), it->at("together").get<std::vector<double>>(),
          it->value("launches", std::vector<double>())};
}

/// Older files have none.
bench::Clocks clocks_in(const Json& size) {
  const auto it = size.find("sm_clocks_mhz");
  if (it == size.end() || it->is_null()) return {};
  return {it->at("least"), it->at("most")};
}

Setting setting_in(const Json& json) {
  return {json.at("matrix"),
          json.at("threads"),
          json.at("warmup"),
          json.value("least_visits", 1),
          json.value("most_visits", 1),
          json.at("most_runs"),
          json.at("noise"),
          json.at("enough_seconds"),
          json.at("seed"),
          json.value("copies", false)};
}

}  // namespace

Json drawn_beside(const Comparison& all, const Json& environment) {
  Json rows = Json::array();
  for (const Row& row : all.rows) {
    rows.push_back(object(all, row, std::nullopt));
    rows.back()["attribution"] = nullptr;
  }
  const bool timed = any_of(all.rows, [](const Row& r) { return !r.tasks.empty(); });
  return {{"rows", rows}, {"environment", environment}, {"tasks_were_timed", timed}};
}

Json as_json(const Comparison& all, const Json& environment, const Json& beside) {
  Json limits = Json::array(), sizes = Json::array(), rows = Json::array();
  for (const Limit& l : all.limits) limits.push_back(object(l));
  for (const Size& s : all.sizes)
    sizes.push_back({{"n", s.n},
                     {"matrix", s.matrix},
                     {"matrix_hash", s.hash},
                     {"other_processors", s.other_processors},
                     {"yardstick_seconds", object(s.yardstick)},
                     {"sm_clocks_mhz", object(s.clocks)},
                     {"notes", s.notes}});
  for (const Row& r : all.rows) rows.push_back(object(all, r, all.roof_of(r)));
  return {{"schema_version", schema_version},
          {"date", or_null(all.date)},
          {"command", or_null(all.command)},
          {"compare", object(all.setting)},
          {"limits", limits},
          {"sizes", sizes},
          {"rows", rows},
          {"pairs", pairs_of(all)},
          {"remarks", all.remarks},
          {"environment", environment},
          {"beside", beside}};
}

std::string as_trace(const Comparison& all) {
  Json events = Json::array();
  const auto name = [&](const char* what, int process, int thread, const std::string& word) {
    events.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", word}}}});
  };
  int process = 0;
  for (const Row& r : all.rows) {
    if (r.tasks.empty()) continue;
    ++process;
    name("process_name", process, 0, fmt::format("{}, n = {}, {}", all.label_of(r), r.key.n, r.key.precision));
    std::vector<std::string> lanes;  // tasks of one phase overlap where there are several
    for (const TaskTime& t : r.tasks)
      if (!contains(lanes, t.lane)) lanes.push_back(t.lane);
    std::sort(lanes.begin(), lanes.end());
    const auto thread_of = [&](const TaskTime& t) {
      return lanes.size() == 1 ? int(t.phase) : int(std::find(lanes.begin(), lanes.end(), t.lane) - lanes.begin());
    };
    if (lanes.size() == 1) {
      for (std::size_t p = 0; p < phase_count; ++p)
        if (r.phases.seconds[p] > 0) name("thread_name", process, int(p), name_of(Phase(p)));
    } else {
      for (std::size_t l = 0; l < lanes.size(); ++l) name("thread_name", process, int(l), lanes[l]);
    }
    for (const TaskTime& t : r.tasks) {
      Json about = {{"block", t.block}, {"flops", t.flops}, {"gflops", t.seconds > 0 ? 1e-9 * t.flops / t.seconds : 0}};
      if (is_update(t)) about.update({{"m", t.m}, {"n", t.n}, {"k", t.k}});
      events.push_back({{"ph", "X"},
                        {"name", t.what},
                        {"cat", name_of(t.phase)},
                        {"pid", process},
                        {"tid", thread_of(t)},
                        {"ts", 1e6 * t.begin},
                        {"dur", 1e6 * t.seconds},
                        {"args", about}});
    }
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

Comparison comparison_of(const std::string& text, const std::string& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw io::InputError(fmt::format("{}: error: expected the JSON of lasolve compare: {}", name, e.what()));
  }
  if (!json.is_object() || !json.contains("schema_version") || !json.contains("compare"))
    throw io::InputError(fmt::format("{}: error: expected the JSON of lasolve compare, found other JSON", name));
  if (json["schema_version"] != schema_version)
    throw io::InputError(fmt::format("{}: error: expected schema_version {}, found {}", name, schema_version,
                                     json["schema_version"].dump()));
  try {
    Comparison all;
    for (auto [name, to] : {std::pair("date", &all.date), std::pair("command", &all.command)})  // older files have none
      if (json.contains(name) && json[name].is_string()) *to = json[name];
    all.setting = setting_in(json.at("compare"));
    for (const Json& l : json.value("limits", Json::array()))  // older files have none
      all.limits.push_back({l.at("device"), l.at("precision"), {l.at("flops_per_second"), l.at("bytes_per_second")}});
    for (const Json& s : json.at("sizes"))
      all.sizes.push_back({s.at("n"), s.at("matrix"), s.at("matrix_hash"), s.at("other_processors"), yardstick_in(s),
                           clocks_in(s), s.value("notes", std::vector<std::string>())});  // older files have none
    const auto options = options_of_all(json.at("compare"));
    for (const Json& row : json.at("rows")) all.rows.push_back(row_in(row, options));
    return all;
  } catch (const Json::exception& e) {
    throw io::InputError(fmt::format("{}: error: the JSON of lasolve compare is not whole: {}", name, e.what()));
  } catch (const Unfit& e) {
    throw io::InputError(fmt::format("{}: error: the JSON of lasolve compare: {}", name, e.what()));
  }
}

Json environment_in(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("environment") ? json["environment"] : Json(nullptr);
}

}  // namespace lasolve::compare
