#include "cli/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/print.hpp"
#include "cli/tuning.hpp"
#include "cli/words.hpp"
#include "core/device_properties.hpp"
#include "core/range.hpp"
#include "core/tuning.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"
#include "solvers/cards/lower_cards.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/lower.hpp"
#include "solvers/method.hpp"

namespace lasolve::cli {

namespace {

std::vector<std::string> with_none(std::vector<std::string> names) {
  names.insert(names.begin(), "none");
  return names;
}

struct PlanRequest {
  Request solve;  // whose recipes these are
  std::string matrix, json, svg;
  std::int64_t step = 0, nrhs = 1;  // a step of 0: to be chosen
  Lanes lanes = four_lanes;
  std::string card;  // empty: none
  int cards = 1;
  bool quick_products = false, quiet = false;
};

OptionOf<PlanRequest> as_of_solve(const char* name) {
  const OptionOf<Request>& its = solve_option(name);
  OptionOf<PlanRequest> option(its.name, its.letter, its.value, its.by_default, its.choices, its.meaning);
  option.formerly = its.formerly, option.repeats = its.repeats;
  if (its.set) option.to([set = its.set](PlanRequest& r, auto& word) { set(r.solve, word); });
  return option;
}

void set_card(PlanRequest& r, const std::string& card) {
  if (card == "none") return;
  if (!contains(card_names(), card)) refuse_word("card", with_none(card_names()), card);
  r.card = card;
}

void set_lanes(PlanRequest& r, const std::string& lanes) {
  if (lanes != "1" && lanes != "4") refuse_word("lanes", {"1", "4"}, lanes);
  r.lanes = lanes == "1" ? Lanes::one() : four_lanes;
}

const Table<PlanRequest>& plan_table() {
  using R = PlanRequest;
  using O = OptionOf<R>;
  static const Table<R> all = [] {
    Table<R> table = {O("matrix", 'm', "MATRIX", "the same as the word MATRIX; only its size counts").to(&R::matrix)};
    for (const char* const name :
         {"factorization", "pivoting",     "schedule", "block-size",      "triangle",       "precision",
          "storage",       "refine",       "residual", "equilibrate",     "accuracy",       "device-memory",
          "card-shares",   "in-place",     "bounds",   "history",         "gemm",           "device",
          "tune",          "no-condition", "patience", "assume-suitable", "allow-nonfinite"})
      table.push_back(as_of_solve(name));
    find_in(table, [](const O& o) { return std::string(o.name) == "factorization"; })->by("lu");
    find_in(table, [](const O& o) { return std::string(o.name) == "device"; })->by("cpu");
    const Table<R> own = {
        O("rhs-columns", 0, "COUNT", "1", "right-hand sides, whose recipe is said as well").to([](R& r, auto& word) {
          r.nrhs = number<std::int64_t>("rhs-columns", word, 0);
        }),
        O("step", 0, "SIZE", "auto",
          "columns of a right-looking LU that are factored at a time; auto: a quarter of a panel where there are four "
          "lanes, else all of it")
            .to([](R& r, auto& word) { r.step = number<std::int64_t>("step", word, 1, "auto"); }),
        O("lanes", 0, "COUNT", "4", {"1", "4"},
          "4: a device whose queues run side by side; 1: the CPU, and lowered for it, with the products in triangular "
          "solves")
            .to(set_lanes),
        O("card", 0, "NAME", "none", with_none(card_names()),
          "as it is lowered for the kernels and the tuning of a card; none: as the schedule says it, on --device")
            .to(set_card),
        O("quick-products", 0, "as with products so quick that panels bind, such as those of tensor_split")
            .to(&R::quick_products),
        O("cards", 0, "COUNT", "1",
          "block columns are dealt out to so many cards, and what travels between them is sent")
            .to([](R& r, auto& word) { r.cards = number<int>("cards", word, 1); }),
        json_option<R>("write the plan as JSON to FILE; - is standard output"),
        O("svg", 0, "FILE", "draw the plan, as SVG, to FILE; - is standard output").to(&R::svg),
        quiet_option<R>("no summary, and no table, which --json and --svg leave out as well"),
        help_option<R>(),
    };
    table.insert(table.end(), own.begin(), own.end());
    return table;
  }();
  return all;
}

PlanRequest parse(int argc, const char* const* argv) {
  PlanRequest r;
  r.solve.options.condition = true;
  const Given given = parse_options(argc, argv, plan_table(), r, "matrix");
  refuse_files_named_twice({{"matrix", r.matrix}}, {{"json", r.json}, {"svg", r.svg}});
  Options& o = r.solve.options;
  if (!r.card.empty() && r.lanes.single()) throw UsageError("--card takes --lanes 4: a card has more than one queue");
  if (!r.card.empty() && r.step > 0)
    throw UsageError("--card and --step do not go together: the tuning of the card says how wide steps are");
  if (r.matrix.empty()) throw UsageError("no matrix; give --matrix FILE or --matrix GENERATOR, such as uniform:n=4096");
  if (r.cards > 1 && o.cards.empty()) {
    o.cards.resize(std::min<std::size_t>(r.cards, CardList::most + 1));  // one more is refused, as any number is
    std::iota(o.cards.begin(), o.cards.end(), 0);
  }
  complete_recipe(r.solve, given);
  return r;
}

std::int64_t size_of(const std::string& matrix) {
  if (is_generated(matrix)) return io::Generator(matrix).n();
  const io::MatrixFile file = io::read_matrix(matrix, {Queue<Cpu>().threads(), true, 8});
  if (file.matrix.rows() != file.matrix.cols())
    throw io::InputError(fmt::format("{}: error: expected a square matrix, found {} x {}", file.place,
                                     file.matrix.rows(), file.matrix.cols()));
  return file.matrix.rows();
}

/// Of a card, or of the device and the backend that a solve takes here.
Recipes recipes_for(const PlanRequest& r, std::int64_t n, const Tuning& of_card) {
  Options o = r.solve.options;
  if (r.solve.in_place) o.check = false;  // the tool has the check of a matrix that is made again
  const lasolve::Problem problem{.n = n, .handed_over = r.solve.in_place};
  if (!r.card.empty())
    return resolve(o, problem,
                   {.device = {Device::cuda, o.device.index},
                    .cards = cards_of(o),
                    .tuning = &of_card,
                    .precisions = ~0u,
                    .is_quick = r.quick_products,
                    .device_bytes = double(o.device_memory)});
  o.gemm = r.solve.backends.front();
  o.tuning = tuning_asked_for(r.solve, o);
  const Choice choice = choose(o);
  o.device = choice.device();
  const Tuning tuning = tuning_of(o.device);
  const bool fits = o.device.kind == Device::cpu && !problem.handed_over && fits_a_leaf<double>(n, o);
  Means means = std::visit([&](const auto* gemm) { return means_of(*gemm, o, tuning, fits); }, choice.backend);
  means.device_bytes = double(o.device_memory);
  means.is_quick |= r.quick_products;
  return resolve(o, problem, means);
}

DrawnPlan plan_for(const PlanRequest& r) {
  const DeviceProperties device = r.card.empty() ? DeviceProperties() : card(r.card);
  const Tuning tuning = r.card.empty() ? cpu_tuning().values : tuning_for(device).values;
  Blocking by{.n = size_of(r.matrix), .lanes = r.lanes};
  const Recipes recipes = recipes_for(r, by.n, tuning);
  const Recipe& first = recipes.first();
  by.widths = first.widths, by.ahead = std::max<std::int64_t>(1, first.cards.count);
  const bool in_steps = first.schedule == Schedule::right_looking && r.card.empty() && first.executor != Executor::leaf;
  std::int64_t& step = by.widths.step;
  step = r.step == 0 && in_steps && !r.lanes.single() ? (by.widths.panel + 3) / 4 : r.step;
  if (!in_steps || step >= by.widths.panel) step = 0;
  Plan plan = plan_of(first.method, first.schedule, by);
  const auto is_wide = [&](const Task& t) { return t.type->picture == TaskType::panel && t.C.n > step; };
  if (any_of(plan.tasks, is_wide)) step = 0;  // the schedule knows no steps
  const CardList& cards = first.cards;
  if (!r.card.empty()) {
    Capabilities can = for_recipe(capabilities_of(device, tuning, computed_in(first.precision.storage), by.n), first);
    if (first.quick_products) can.panel_partition = panel_partition(device, tuning, by.n, first.pivoting);
    plan = lower(plan, can);
  } else if (r.lanes.single() && cards.count == 1) {
    plan = lower(plan, capabilities_of_cpu(tuning));
  }
  plan = lower_cards(plan, Deal(by, cards));
  Waits waits = waits_of(plan);
  return {std::move(plan),
          std::move(waits),
          first.schedule,
          by.widths,
          r.card,
          recipes,
          resolve(first, RhsProblem{.n = by.n, .nrhs = r.nrhs})};
}

}  // namespace

std::vector<Option> plan_options() { return listed_in(plan_table()); }

int plan_command(int argc, const char* const* argv) {
  const PlanRequest request = parse(argc, argv);
  for (const std::string& path : {request.json, request.svg})
    if (!path.empty()) io::require_writable(path);
  const DrawnPlan drawn = plan_for(request);
  const bool has_table = request.json.empty() && request.svg.empty();  // else the tasks are there
  if (!request.quiet && !io::is_standard_output(request.json) && !io::is_standard_output(request.svg))
    fmt::print("{}{}", summary_of(drawn), has_table ? "\n" + table_of(drawn) : "");
  if (!request.json.empty()) write_text(request.json, as_json(drawn));
  if (!request.svg.empty()) write_text(request.svg, as_svg(drawn));
  return done;
}

}  // namespace lasolve::cli
