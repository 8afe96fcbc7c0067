#include "solvers/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/choose.hpp"
#include "lasolve/names.hpp"
#include "solvers/flops.hpp"
#include "solvers/method.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

namespace {

/// The precision of factors by its name, or that of A; residuals are in that of A.
SolvePrecision solve_precision(Precision name, Precision storage, Precision of_A) {
  if (name == Precision::automatic && storage == Precision::automatic) name = of_A;
  if (storage != Precision::automatic && !can_be_stored(storage))
    throw std::invalid_argument(fmt::format("lasolve: factors are not stored in {}", name_of(storage)));
  if (name != Precision::automatic && !find_solve_precision(name)) {
    std::string known;
    for (const SolvePrecision& p : solve_precisions)
      known += (known.empty() ? "" : ", ") + std::string(name_of(p.name));
    throw std::invalid_argument(fmt::format("lasolve: solvers have the precisions {}, not {}", known, name_of(name)));
  }
  const auto found = find_solve_precision(name, storage);
  if (!found)
    throw std::invalid_argument(fmt::format("lasolve: factors that are stored in {} are computed in {}, not {}",
                                            name_of(storage), name_of(computed_in(storage)), name_of(name)));
  if (bytes_of(computed_in(found->storage)) > bytes_of(of_A))
    throw std::invalid_argument(
        fmt::format("lasolve: {} factors of an {} matrix", name_of(found->storage), name_of(of_A)));
  SolvePrecision in = *found;
  if (in.residual == Precision::automatic) in.residual = of_A;
  return in;
}

void require_sensible(const Tuning& tuning) {
  const std::string complaint = complaint_about(tuning);
  require(complaint.empty(), ("the tuning makes no sense: " + complaint).c_str());
}

void require_reachable(const Options& o, const Problem& problem) {
  if (o.accuracy == 0) return;
  const double least = unit_roundoff_of(problem.element);
  if (!(o.accuracy >= least && o.accuracy < 1))
    throw std::invalid_argument(
        fmt::format("lasolve: an accuracy is at least {:.2g}, the roundoff of {}, and below 1, not {}", least,
                    name_of(problem.element), o.accuracy));
  require(o.check && !problem.handed_over, "an accuracy is asked for, but solutions are not checked");
}

/// Whether coarse factors are refined to an accuracy in less time than those in the precision of A take.
bool is_faster_coarse(const Options& o, const Problem& problem, const Means& means) {
  return o.accuracy > 0 && problem.element == Precision::fp64 && o.precision == Precision::automatic &&
         o.storage == Precision::automatic && o.refine == Refine::automatic &&
         problem.n >= means.tuning->refined_from && (means.has_coarse || means.offers(Precision::fp32));
}

bool has_schedule(Method method, const Options& options) {
  return options.schedule == Schedule::automatic || is_offered(method, options.schedule);
}

void require_offered(const Options& options, const Problem& problem, const Means& means, const Recipe& r) {
  require(options.block_size >= 0, "the block size is negative");
  const Method method = options.factorization == Method::automatic ? Method::lu : options.factorization;
  require(!problem.is_complex || (!record_of(method).is_symmetric && options.triangle == Uplo::both),
          "complex matrices are given whole, and factored by LU: there is no method for Hermitian ones yet");
  require(has_schedule(method, options), "this schedule is not offered for this method");
  if (!r.by_coarse && !means.offers(r.precision.products))
    require(false, does_not_offer(means.backend, means.device, r.precision.products).c_str());
}

/// What several cards do not do yet is said, not left out.
void require_for_cards(const Options& o, const Problem& problem) {
  const auto refuse = [](bool wanted, const char* what) {
    if (wanted)
      throw std::invalid_argument(std::string("lasolve: over several cards ") + what + ": name one device instead");
  };
  refuse(problem.is_complex, "systems are real");
  refuse(problem.handed_over, "factors do not overwrite A");
  refuse(o.factorization == Method::lu_nopivot, "the methods are LU and Cholesky");
  refuse(o.schedule != Schedule::automatic && o.schedule != Schedule::right_looking, "the schedule is right-looking");
  refuse(o.triangle != Uplo::both, "all of A is given, not a triangle");
  refuse(o.storage != Precision::automatic, "factors are stored as they are computed");
  refuse(o.residual == Residual::extra, "residuals are in the precision of A");
  refuse(o.equilibrate == Wanted::on, "rows and columns are not scaled");
}

/// Schedule, widths, and what follows from the method.
void plan(Recipe& r, const Options& options, const Problem& problem, const Means& means) {
  const Tuning& t = *means.tuning;
  const MethodRecord& method = record_of(r.method);
  r.schedule = options.schedule != Schedule::automatic ? options.schedule
               : r.executor == Executor::cards ? Schedule::right_looking  // reads one block column of L at a time
               : r.arrives                     ? Schedule::left_looking
                                               : method.default_schedule(t, r.quick_products);
  r.mirrors = options.triangle == Uplo::upper || (options.triangle == Uplo::lower && !method.is_symmetric);
  r.as_it_comes = r.arrives && r.schedule == Schedule::left_looking && !r.mirrors;  // rows come last
  r.widths = r.executor == Executor::leaf ? Widths{.panel = std::max<std::int64_t>(1, problem.n)}
                                          : method.widths(t, {.schedule = r.schedule,
                                                              .storage = computed_in(r.precision.storage),
                                                              .n = problem.n,
                                                              .columns = options.block_size,
                                                              .arrives = r.as_it_comes,
                                                              .queues = means.queues});
}

/// Whether a leaf does all that is asked for.
bool goes_by_leaf(const Options& o, const Problem& problem, const Means& means) {
  return means.fits_a_leaf && means.offers(problem.element) && o.block_size == 0 && o.schedule == Schedule::automatic &&
         !is_asked_for(o.refine) && !o.bounds && o.accuracy == 0 && !o.history && o.residual == Residual::working &&
         o.equilibrate != Wanted::on && o.storage == Precision::automatic &&
         (o.precision == Precision::automatic || o.precision == problem.element);
}

/// The solves of an estimate have few columns and read all factors, at the speed of memory: meanwhile products do many more operations.
bool is_dear(const Recipe& r, std::int64_t n) {
  constexpr double share = 0.005, operations_of_products = 50;
  return operations_of_products * flops_of_condition(double(n)) > share * record_of(r.method).flops(double(n));
}

/// What is refined tells itself whether its coarse factors are good enough.
Estimate when_estimated(const Recipe& r, const Options& o, std::int64_t n) {
  if (o.bounds) return Estimate::always;
  if (o.condition != Condition::automatic) return o.condition == Condition::on ? Estimate::always : Estimate::never;
  if (r.refines() && r.is_coarse()) return Estimate::never;
  return r.executor == Executor::leaf || r.in_place || is_dear(r, n) ? Estimate::in_doubt : Estimate::always;
}

/// Whether A is factored as it comes, which pays where it is large, and goes where nothing has to be known of it before.
bool goes_as_it_comes(const Recipe& r, bool picks, const Problem& problem, const Tuning& t) {
  const double bytes = double(problem.n) * double(problem.n) * bytes_of(problem.element) * (problem.is_complex ? 2 : 1);
  const bool looks = picks || r.finite || r.condition == Estimate::always;
  return problem.from_host && bytes >= double(t.arriving_bytes) && !r.asks_dominance && !(r.in_place && looks) &&
         !has_narrow_range(r.precision.products) && !r.equilibrates;
}

/// When a method that the options leave open finds out what it requires of A.
Symmetry when_found_out(const Recipe& r, const Options& o, const Problem& problem, const Tuning& t) {
  if (o.triangle != Uplo::both) return Symmetry::given;
  if (r.arrives) return Symmetry::after;
  const bool is_large =
      double(problem.n) * double(problem.n) * bytes_of(computed_in(r.precision.storage)) >= double(t.waited_copy_bytes);
  const bool pays = problem.n <= t.cholesky_tried_order || (problem.glance == Method::cholesky && !is_large);
  const bool beside =
      pays && !r.in_place && !r.equilibrates && !has_narrow_range(r.precision.products) && r.executor == Executor::plan;
  return beside ? Symmetry::beside : Symmetry::before;
}

}  // namespace

CardList cards_of(const Options& o) {
  CardList list;
  if (o.cards.size() < 2) return list;
  require(o.cards.size() <= CardList::most, "a system is spread over 16 cards at most");
  list.count = o.cards.size();
  std::copy(o.cards.begin(), o.cards.end(), list.indices.begin());
  return list;
}

Recipes resolve(const Options& o, const Problem& problem, const Means& means) {
  const Tuning& t = *means.tuning;
  const Precision of_A = problem.element;
  if (o.tuning) require_sensible(*o.tuning);
  Recipe r;
  r.device = means.device, r.cards = means.cards;
  const bool several = r.cards.count > 1;
  if (several) require_for_cards(o, problem);
  require_reachable(o, problem);
  const bool coarse = is_faster_coarse(o, problem, means);
  r.precision = solve_precision(coarse ? Precision::fp32 : o.precision, o.storage, of_A);
  r.by_coarse = coarse && means.has_coarse;
  r.quick_products = r.by_coarse || means.is_quick;
  r.accuracy = o.accuracy;
  require_offered(o, problem, means, r);
  r.extra = o.residual == Residual::extra, r.history = o.history;
  require(!r.extra || o.refine != Refine::none, "residuals of a refinement are asked for, but none is to be made");
  r.refine = o.refine != Refine::automatic ? o.refine : r.is_coarse() || r.extra ? Refine::classical : Refine::none;
  r.executor = several ? Executor::cards : goes_by_leaf(o, problem, means) ? Executor::leaf : Executor::plan;
  r.finite = o.check && !o.allow_nonfinite;
  const bool picks = o.factorization == Method::automatic && has_schedule(Method::cholesky, o) &&
                     problem.glance != Method::lu && !problem.is_complex && !several;
  const bool not_read_again = !several && problem.from_host && !o.check && !r.is_coarse() && !r.refines() && !picks;
  r.in_place = problem.handed_over || not_read_again;
  require(!problem.handed_over || (!r.is_coarse() && !r.refines()),
          "factors in place of A leave nothing to refine with");
  r.check = o.check && !r.in_place;
  r.bounds = o.bounds && r.check;
  r.gmres_follows = o.refine == Refine::automatic;
  r.equilibrates = o.equilibrate == Wanted::on;
  r.equilibrates_in_need = o.equilibrate == Wanted::automatic && !r.in_place && !several;
  r.mends = r.check && o.refine == Refine::automatic && !r.refines();
  r.method = picks ? Method::cholesky : o.factorization == Method::automatic ? Method::lu : o.factorization;
  r.condition = when_estimated(r, o, problem.n);
  r.asks_dominance = record_of(r.method).is_dominant && !o.assume_suitable;
  r.arrives = r.executor == Executor::plan && goes_as_it_comes(r, picks, problem, t);
  if (picks) r.symmetry = when_found_out(r, o, problem, t);
  plan(r, o, problem, means);

  Recipes recipes;
  recipes.add(r);
  r.symmetry = Symmetry::given, r.arrives = false;
  const auto add = [&] {
    plan(r, o, problem, means);
    recipes.add(r);
  };
  if (r.executor != Executor::leaf && !r.in_place) add();  // of a scaled A
  const Method first = r.method;
  if (picks) r.method = Method::lu, add();
  if (r.is_coarse() && r.refines() && means.offers(of_A)) {
    r.precision = solve_precision(of_A, Precision::automatic, of_A), r.by_coarse = r.quick_products = false;
    r.condition = when_estimated(r, o, problem.n);
    add();
    if (first != r.method) r.method = first, add();
  }
  return recipes;
}

std::optional<Recipe> Recipes::after(const Recipe& tried, Reason why) const {
  if (why == Reason::badly_scaled && (tried.equilibrates || !tried.equilibrates_in_need)) return {};
  for (const Recipe& next : *this) {
    const bool other_method = next.method != tried.method,
               other_precision = next.precision.name != tried.precision.name;
    const bool fits = why == Reason::not_positive_definite
                          ? tried.method == Method::cholesky && other_method && !other_precision
                      : why == Reason::too_coarse ? tried.is_coarse() && other_precision && !other_method
                                                  : !other_method && !other_precision;
    if (!fits || &next == all_.data()) continue;
    Recipe found = next;
    found.scales_up = tried.scales_up || why == Reason::too_small;
    found.equilibrates = tried.equilibrates || why == Reason::badly_scaled;
    return found;
  }
  return {};
}

}  // namespace lasolve
