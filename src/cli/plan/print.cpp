#include "cli/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"
#include "solvers/recipe_fields.hpp"

namespace lasolve::cli {

namespace {

const char* letter_of(Resource of) {
  constexpr std::array letters = {"A", "pivots", "permutations", "order", "later", "packed L11", "device", "status"};
  static_assert(letters.size() == std::size_t(Resource::status) + 1);
  return letters[std::size_t(of)];
}

/// Some blocks go on to the last row, whichever that is.
Range rows_of(const Block& b, std::int64_t n) { return {b.i, std::min(b.i + b.m, n)}; }

std::string shown_of_one_card(const Block& b, std::int64_t n) {
  if (b.of == Resource::status || b.of == Resource::packed_L11 || b.of == Resource::device) return letter_of(b.of);
  const Range rows = rows_of(b, n);
  if (b.of != Resource::matrix) return fmt::format("{}[{}:{}]", letter_of(b.of), rows.begin, rows.end);
  return fmt::format("A[{}:{}, {}:{}]", rows.begin, rows.end, b.j, b.j + b.n);
}

/// What is in the memory of another card than that of the task is said to be.
std::string shown(const BlockList& blocks, const Task& task, std::int64_t n) {
  std::string text;
  for (const Block& b : blocks) {
    text += (text.empty() ? "" : "  ") + shown_of_one_card(b, n);
    if (b.card != task.lane.card) text += fmt::format(" of card {}", b.card);
  }
  return text;
}

Json json_of(const BlockList& blocks, std::int64_t n) {
  Json list = Json::array();
  for (const Block& b : blocks) {
    const Range rows = rows_of(b, n);
    list.push_back({{"of", letter_of(b.of)}, {"rows", {rows.begin, rows.end}}, {"columns", {b.j, b.j + b.n}}});
  }
  return list;
}

double flops_of(const Plan& plan) {
  double sum = 0;
  for (const Task& task : plan.tasks) sum += task.flops();
  return sum;
}

/// The recipe that is tried first, and those that follow, each with the reasons that lead to it.
std::string list_of(const Recipes& recipes) {
  std::string text;
  for (const Recipe& recipe : recipes) {
    std::string why;
    for (const Before& before : those_before(recipes, recipe))
      why += fmt::format("{}{} ({})", why.empty() ? "after " : ", ", before.number, before.reason);
    std::replace(why.begin(), why.end(), '_', ' ');
    text += fmt::format("{:<12}{}: {}\n", text.empty() ? "recipes" : "", recipe.number,
                        wrapped(text_of(recipe) + (why.empty() ? "" : "; " + why), 96, 15));
  }
  return text;
}

std::vector<std::string> names_of_lanes(const Plan& plan) {
  std::vector<std::string> names;
  for (const Lane lane : lanes_of(plan)) names.push_back(lane_name(plan, lane));
  return names;
}

}  // namespace

std::string lane_name(const Plan& plan, Lane lane) {
  const char* const name = plan.lanes.single() ? "one" : plan.lanes.name_of(lane);
  return plan.cards == 1 ? name : fmt::format("{}: {}", lane.card, name);
}

std::string summary_of(const DrawnPlan& drawn) {
  const Plan& plan = drawn.plan;
  const double flops = flops_of(plan);
  std::map<std::string, std::pair<int, double>> kinds;
  for (const Task& task : plan.tasks) ++kinds[task.type->name].first, kinds[task.type->name].second += task.flops();
  std::string text =
      fmt::format("plan        {}, {}, n = {}, panels of at most {} columns{}\n", record_of(plan.method).name,
                  lasolve::name_of(drawn.schedule), plan.n, drawn.widths.panel,
                  drawn.widths.step > 0 ? fmt::format(", in steps of {}", drawn.widths.step) : "");
  if (!drawn.card.empty())
    text += fmt::format("card        lowered for the kernels of {}, in {}\n", drawn.card,
                        lasolve::name_of(computed_in(drawn.recipes.first().precision.storage)));
  text += list_of(drawn.recipes) + fmt::format("solve       {}\n", text_of(drawn.solve));
  text += fmt::format("tasks       {}, which take {:.4g} GFLOP\n", plan.tasks.size(), 1e-9 * flops);
  for (const auto& [name, kind] : kinds)
    text += fmt::format("            {:<17}{:>7}{}\n", name, kind.first,
                        kind.second > 0 ? fmt::format("{:>8.1f} % of the flops", 100 * kind.second / flops) : "");
  if (plan.cards > 1) text += fmt::format("cards       {}, to which block columns are dealt out\n", plan.cards);
  text += lanes_of(plan).size() < 2
              ? "lanes       one, so that nothing has to wait\n"
              : fmt::format(
                    "lanes       {}; what somebody waits for soonest comes first\n"
                    "waits       {}: as few as the order of tasks that touch the same block needs\n",
                    fmt::join(names_of_lanes(plan), ", "), drawn.waits.count());
  return text;
}

std::string table_of(const DrawnPlan& drawn) {
  const Plan& plan = drawn.plan;
  const int lane = plan.cards > 1 ? 10 : 7;
  std::size_t writes = 6, reads = 5;
  for (const Task& task : plan.tasks) {
    writes = std::max(writes, shown(writes_of(task), task, plan.n).size());
    reads = std::max(reads, shown(reads_of(task), task, plan.n).size());
  }
  std::string text =
      fmt::format("{:>6}  {:<16}  {:<{}}  {:<{}}  {:<{}}  {:>10}  {}\n", "task", "what", "lane", lane, "writes", writes,
                  "reads", reads, "MFLOP", drawn.waits.count() == 0 ? "" : "waits for");
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Task& task = plan.tasks[i];
    std::string line = fmt::format("{:>6}  {:<16}  {:<{}}  {:<{}}  {:<{}}  {:>10.3f}  {}", i, task.type->name,
                                   lane_name(plan, task.lane), lane, shown(writes_of(task), task, plan.n), writes,
                                   shown(reads_of(task), task, plan.n), reads, 1e-6 * task.flops(),
                                   fmt::join(drawn.waits.of(i), ", "));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text +
         "Of a block, rows first, then columns, from 0; the end is not part of it. What is written may be read, too.\n";
}

std::string as_json(const DrawnPlan& drawn) {
  const Plan& plan = drawn.plan;
  Json tasks = Json::array();
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Task& task = plan.tasks[i];
    tasks.push_back({{"task", i},
                     {"what", task.type->name},
                     {"lane", lane_name(plan, task.lane)},
                     {"phase", lasolve::name_of(task.phase())},
                     {"writes", json_of(writes_of(task), plan.n)},
                     {"reads", json_of(reads_of(task), plan.n)},
                     {"flops", task.flops()},
                     {"waits_for", std::vector<std::int32_t>(drawn.waits.of(i).begin(), drawn.waits.of(i).end())}});
  }
  return text_of(Json{{"schema_version", 1},
                      {"factorization", name_of(plan.method)},
                      {"schedule", lasolve::name_of(drawn.schedule)},
                      {"n", plan.n},
                      {"block_size", drawn.widths.panel},
                      {"step", drawn.widths.step > 0 ? Json(drawn.widths.step) : Json(nullptr)},
                      {"card", or_null(drawn.card)},
                      {"recipes", recipes_as_json(drawn.recipes)},
                      {"solve_recipe", solve_recipe_as_json(drawn.solve)},
                      {"flops", flops_of(plan)},
                      {"waits", drawn.waits.count()},
                      {"lanes", names_of_lanes(plan)},
                      {"tasks", tasks}});
}

}  // namespace lasolve::cli
