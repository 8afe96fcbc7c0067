#include "cli/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "core/build.hpp"
#include "core/cpu/limits.hpp"
#include "lasolve/report_fields.hpp"
#include "solvers/recipe_fields.hpp"

namespace lasolve::cli {

namespace {

Json as_json(std::monostate) { return nullptr; }
Json as_json(double x) { return or_null(x); }
Json as_json(const NumbersOfPhases& numbers) {
  Json all = Json::object();
  for (const auto& [phase, number] : numbers) all[phase] = number;
  return all;
}
Json as_json(const std::vector<ProductsOf>& products) {
  Json all = Json::array();
  for (const ProductsOf& of : products)
    all.push_back({{"gemm", of.gemm}, {"calls", of.count.calls}, {"flops", of.count.flops}});
  return all;
}
template <class T>
Json as_json(const T& value) {
  return value;
}

template <class Decided>
Json fields_of(std::span<const RecipeField<Decided>> fields, const Decided& decided) {
  Json json = Json::object();
  for (const auto& field : fields)
    json[field.name] = std::visit([](const auto& value) { return as_json(value); }, field.of(decided));
  return json;
}

std::string list_of_fields(const auto& fields) {
  std::string text;
  for (const auto& f : fields) text += fmt::format("  {:<24}{}\n", f.name, wrapped(f.meaning, 72, 26));
  return text;
}

struct Solved {
  const Subject& subject;
  const Measured& measured;
};
using In = const Solved&;
const Recipe* taken(In s) {
  const auto& its = s.measured.decided;
  return its && its->taken ? &*its->taken : nullptr;
}

struct Field {
  const char *name, *unit, *meaning;
  std::function<Json(In)> of;
  const char* before = "";  ///< of a field that no report has: the one that follows
};

const Field fields_of_the_tool[] = {
    {"schema_version", "count", "1; a field that goes or changes its meaning raises it", [](In) { return 1; },
     "outcome"},
    {"matrix", "word", "A: the file or the generator", [](In s) { return s.subject.matrix; }, "n"},
    {"rhs", "word", "B: the file, or how it was made", [](In s) { return s.subject.rhs; }, "n"},
    {"transposed", "bool", "whether the system is with the transpose of A", [](In s) { return s.subject.transposed; },
     "n"},
    {"runs", "count", "how many were timed; all else is of the run with the median factor_seconds",
     [](In s) { return s.measured.runs; }, "backward_error"},
    {"factor_seconds_least", "s", "of these, the shortest factorization",
     [](In s) { return s.measured.least_factor_seconds; }, "backward_error"},
    {"factor_seconds_most", "s", "the longest", [](In s) { return s.measured.most_factor_seconds; }, "backward_error"},
    {"factor_seconds_of_runs", "s", "of each run", [](In s) { return s.measured.factor_seconds; }, "backward_error"},
    {"seed", "count", "of the random order in which several backends ran", [](In s) { return s.measured.seed; },
     "backward_error"},
    {"recipes", "list",
     "how the system was to be solved: the first recipe, and those that follow where one does not do",
     [](In s) { return s.measured.decided ? recipes_as_json(s.measured.decided->recipes) : Json(nullptr); }, "phases"},
    {"recipe", "count", "that whose factors gave the answer, by its number",
     [](In s) { return taken(s) ? Json(taken(s)->number) : Json(nullptr); }, "phases"},
    {"recipe_taken", "object", "that, with the refinement that its solutions needed in the end",
     [](In s) { return taken(s) ? fields_of(recipe_fields(), *taken(s)) : Json(nullptr); }, "phases"},
    {"solve_recipe", "object", "how its right-hand sides were solved for",
     [](In s) {
       const auto& its = s.measured.decided;
       return its && its->solve ? solve_recipe_as_json(*its->solve) : Json(nullptr);
     },
     "phases"},
    {"engine", "object", "with several processes: its name and version, how many ranks, and their grid; else null",
     [](In s) {
       const auto& e = s.measured.engine;
       return e ? Json{{"name", e->name},
                       {"version", e->version},
                       {"ranks", e->ranks},
                       {"grid", {e->grid_rows, e->grid_cols}}}
                : Json(nullptr);
     },
     "factorization"},
    {"environment", "object",
     "version, compiler, flags, processor, cores, threads, CUDA devices, toolkit, driver; plugin kernels with a hash",
     [](In s) { return environment(s.measured.report.threads); }},
};

std::vector<Field> fields() {
  std::vector<Field> all;
  const auto add_those_before = [&](std::string_view name) {
    std::copy_if(std::begin(fields_of_the_tool), std::end(fields_of_the_tool), std::back_inserter(all),
                 [=](const Field& f) { return f.before == name; });
  };
  for (const ReportField& f : report_fields()) {
    add_those_before(f.name);
    all.push_back({f.name, f.unit, f.meaning, [&f](In s) {
                     return std::visit([](const auto& value) { return as_json(value); }, f.of(s.measured.report));
                   }});
  }
  add_those_before("");
  return all;
}

Json object(const Subject& subject, const Measured& measured) {
  Json json = Json::object();
  for (const Field& field : fields()) json[field.name] = field.of({subject, measured});
  return json;
}

}  // namespace

std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

Json recipes_as_json(const Recipes& recipes) {
  Json all = Json::array();
  for (const Recipe& recipe : recipes) {
    Json json = {{"number", recipe.number}, {"after", Json::array()}};
    for (const Before& before : those_before(recipes, recipe))
      json["after"].push_back({{"number", before.number}, {"reason", before.reason}});
    json.update(fields_of(recipe_fields(), recipe));
    all.push_back(std::move(json));
  }
  return all;
}

Json solve_recipe_as_json(const SolveRecipe& recipe) { return fields_of(solve_recipe_fields(), recipe); }

Json environment(int threads) {
  Json json = {{"lasolve", version()},
               {"compiler", compiler()},
               {"flags", build_flags()},
               {"processor", processor()},
               {"cores", usable_processors()},
               {"threads", threads > 0 ? Json(threads) : Json(nullptr)},
               {"cuda_devices", cuda_devices().names},
               {"cuda_toolkit", or_null(cuda_toolkit())},
               {"driver", or_null(driver())}};
  if (Json kernels = plugin_kernels(); !kernels.empty()) json["own_kernels"] = std::move(kernels);
  return json;
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string json_fields() {
  std::string text = "What --json has of a solve, with units; of several backends it is a list. null is unknown:\n\n";
  for (const Field& f : fields()) text += fmt::format("  {:<24}{:<9}{}\n", f.name, f.unit, wrapped(f.meaning, 63, 35));
  return text + "\nOf recipe_taken, and of each of the recipes, with its number and the reasons that lead there:\n\n" +
         list_of_fields(recipe_fields()) + "\nOf solve_recipe:\n\n" + list_of_fields(solve_recipe_fields());
}

std::string as_json(const Subject& subject, const std::vector<Measured>& all) {
  if (all.size() == 1) return text_of(object(subject, all[0]));
  Json list = Json::array();
  for (const Measured& m : all) list.push_back(object(subject, m));
  return text_of(list);
}

}  // namespace lasolve::cli
