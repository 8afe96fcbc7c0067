#include "solvers/recipe_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lasolve/names.hpp"
#include "solvers/method.hpp"

namespace lasolve {

inline namespace LASOLVE_ABI {
template <>
struct Names<Executor> {
  static constexpr Name<Executor> all[] = {{Executor::plan, "plan"},
                                           {Executor::leaf, "leaf"},
                                           {Executor::cards, "cards"},
                                           {Executor::out_of_core, "out_of_core"},
                                           {Executor::ranks, "ranks"}};
};
template <>
struct Names<Symmetry> {
  static constexpr Name<Symmetry> all[] = {{Symmetry::given, "assumed"},
                                           {Symmetry::before, "found_before"},
                                           {Symmetry::beside, "found_meanwhile"},
                                           {Symmetry::after, "found_afterwards"}};
};
template <>
struct Names<Estimate> {
  static constexpr Name<Estimate> all[] = {
      {Estimate::never, "never"}, {Estimate::in_doubt, "in_doubt"}, {Estimate::always, "always"}};
};
template <>
struct Names<Reason> {
  static constexpr Name<Reason> all[] = {{Reason::not_positive_definite, "not_positive_definite"},
                                         {Reason::too_coarse, "too_coarse"},
                                         {Reason::elements_grew, "elements_grew"},
                                         {Reason::too_small, "too_small"},
                                         {Reason::badly_scaled, "badly_scaled"}};
};
}  // namespace LASOLVE_ABI

namespace {

using Value = RecipeValue;
using R = const Recipe&;
using S = const SolveRecipe&;

template <class Enum>
Value word_of(Enum value) {
  return std::string(name_of(value));
}
template <class Enum>
Value word_unless(Enum value, Enum usual) {
  return value == usual ? Value() : word_of(value);
}
/// Null where they are equal.
Value shares_of_cards(R r) { return r.cards.has_equal_shares() ? Value() : Value(text_of_shares(r.cards)); }
Value count_unless(std::int64_t value, std::int64_t usual) { return value == usual ? Value() : Value(value); }

Value names_of_devices(R r) {
  return name_of(r.device, {r.cards.indices.begin(), r.cards.indices.begin() + std::ptrdiff_t(r.cards.count)});
}

/// What A has to be.
Value required(R r) {
  const char* const words = record_of(r.method).requirement;
  return words ? Value(words) : Value();
}
Value found_out(R r) {
  if (r.asks_dominance) return word_of(Symmetry::before);
  return std::holds_alternative<std::monostate>(required(r)) ? Value() : word_of(r.symmetry);
}

constexpr RecipeField<Recipe> fields[] = {
    {"device", "cpu, or cuda:INDEX, or several of one kind: cuda:0,1", names_of_devices, ""},
    {"backend", "the GEMM backend that has the products",
     [](R r) { return *r.backend ? Value(std::string(r.backend)) : Value(); }, ""},
    {"factorization", "the method", [](R r) { return word_of(r.method); }, "{}"},
    {"pivoting", "tournament; null: partial, or of a method that has none",
     [](R r) { return r.pivoting == Pivoting::tournament ? word_of(r.pivoting) : Value(); }, "{} pivoting"},
    {"schedule", "the order of the steps", [](R r) { return word_of(r.schedule); }, "{}"},
    {"executor",
     "plan: tasks on the queues of the device; leaf: all at once; cards: tasks on several devices; out_of_core: block "
     "columns from the host; ranks: by the engine of several processes",
     [](R r) { return word_of(r.executor); }, "by {}"},
    {"card_shares", "of several cards, the block columns of each in a round: 2,1; null: equal", shares_of_cards,
     "in shares of {}"},
    {"block_columns", "out of core, columns that are on the device at a time; else null",
     [](R r) { return count_unless(r.out_of_core.columns, 0); }, "block columns of {}"},
    {"slice", "out of core, columns of the others that pass them at a time; else null",
     [](R r) { return count_unless(r.out_of_core.slice, 0); }, "slices of {}"},
    {"block_size", "columns of a panel at most", [](R r) -> Value { return r.block_size(); }, "panels of {}"},
    {"step", "columns that are factored at a time; null: a panel", [](R r) { return count_unless(r.widths.step, 0); },
     "steps of {}"},
    {"precision", "in which the system is solved", [](R r) { return word_of(r.precision.name); }, "{}"},
    {"storage", "what factors are stored in, if not in what they are computed in",
     [](R r) { return word_unless(r.precision.storage, computed_in(r.precision.storage)); }, "stored in {}"},
    {"residual", "what residuals are computed in", [](R r) { return word_of(r.precision.residual); }, ""},
    {"other_products", "products are those of a backend that is faster where they are refined",
     [](R r) -> Value { return r.by_coarse; }, "by a faster backend"},
    {"quick_products", "products are so quick that panels are what a factorization waits for",
     [](R r) -> Value { return r.quick_products; }, ""},
    {"refine", "null: not at all", [](R r) { return word_unless(r.refine, Refine::none); }, "{} refinement"},
    {"extra_residuals", "residuals are in twice the precision of A", [](R r) -> Value { return r.extra; },
     "residuals in twice the precision"},
    {"history", "the residuals of each right-hand side are kept", [](R r) -> Value { return r.history; }, ""},
    {"equilibrates_in_need", "where it serves nobody, rows and columns of A are scaled",
     [](R r) -> Value { return r.equilibrates_in_need; }, ""},
    {"gmres_follows", "where classical refinement stalls", [](R r) -> Value { return r.gmres_follows; }, ""},
    {"requires", "of A; null: nothing", required, "for A that is {}"},
    {"requirement", "it is found before A is factored, meanwhile or afterwards, or assumed", found_out, "({})"},
    {"in_place", "factors overwrite A, or its copy on the device", [](R r) -> Value { return r.in_place; }, "in place"},
    {"arrives", "A comes while the first tasks run", [](R r) -> Value { return r.arrives; }, "while A comes"},
    {"equilibrates", "rows and columns of A are scaled",
     [](R r) -> Value { return r.scaled == Scaled::rows_and_columns; }, "equilibrated"},
    {"scales_up", "2^e A is factored, with a norm just below 1", [](R r) -> Value { return r.scaled == Scaled::up; },
     "scaled up"},
    {"mirrors", "the triangle that is there is mirrored before", [](R r) -> Value { return r.mirrors; }, "mirrored"},
    {"finite", "NaN or Inf is misuse", [](R r) -> Value { return r.finite; }, ""},
    {"check", "the backward error of each solution is measured", [](R r) -> Value { return r.check; }, "checked"},
    {"accuracy", "the backward error that solutions must have; null: that of the HPL check",
     [](R r) { return r.accuracy > 0 ? Value(r.accuracy) : Value(); }, "to {:.1e}"},
    {"mends", "a solution that fails its check as elements grew is refined", [](R r) -> Value { return r.mends; }, ""},
    {"bounds", "what the errors of a solution are at most", [](R r) -> Value { return r.bounds; }, "with error bounds"},
    {"condition", "when it is estimated: null (never), in_doubt, always",
     [](R r) { return word_unless(r.condition, Estimate::never); }, "condition {}"},
};

constexpr RecipeField<SolveRecipe> fields_of_solve[] = {
    {"executor", "plan: by the parts of the factors; leaf: all at once", [](S s) { return word_of(s.executor); },
     "by {}"},
    {"at_once", "right-hand sides that are solved for in one go", [](S s) -> Value { return s.at_once; }, "{} at once"},
    {"keeps_rhs", "B is copied, since X overwrites it", [](S s) -> Value { return s.keeps_B; }, "from a copy of B"},
    {"refine", "null: not at all", [](S s) { return word_unless(s.refine, Refine::none); }, "{} refinement"},
    {"bounded_at_once", "right-hand sides whose errors have one bound; null: there are no bounds",
     [](S s) { return count_unless(s.bounded_at_once, 0); }, "error bounds of {} at once"},
};

template <class Decided>
std::string line_of(std::span<const RecipeField<Decided>> all, const Decided& decided) {
  std::string text;
  const auto say = [&](std::string_view said, const auto& value) {
    if (said.empty()) return;
    if (!text.empty()) text += said.front() == '(' ? " " : ", ";
    text += fmt::format(fmt::runtime(said), value);
  };
  for (const auto& field : all)
    std::visit(
        [&]<class V>(const V& value) {
          if constexpr (std::is_same_v<V, bool>) {
            if (value) say(field.said, "");
          } else if constexpr (!std::is_same_v<V, std::monostate>) {
            say(field.said, value);
          }
        },
        field.of(decided));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::span<const RecipeField<Recipe>> recipe_fields() { return fields; }
std::span<const RecipeField<SolveRecipe>> solve_recipe_fields() { return fields_of_solve; }

std::string text_of(const Recipe& r) { return line_of(recipe_fields(), r); }
std::string text_of(const SolveRecipe& s) { return line_of(solve_recipe_fields(), s); }

std::vector<Before> those_before(const Recipes& all, const Recipe& recipe) {
  std::vector<Before> found;
  for (const Recipe& tried : all)
    for (const auto& reason : Names<Reason>::all)
      if (all.after(tried, reason.value) == &recipe) found.push_back({tried.number, reason.word});
  return found;
}

}  // namespace lasolve
