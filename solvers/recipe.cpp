#include "solvers/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ceil_div.hpp"
#include "core/choose.hpp"
#include "core/range.hpp"
#include "core/sizes.hpp"
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
         problem.n >= means.tuning->refined_from && (means.coarse || means.offers(Precision::fp32));
}

Pivoting pivoting_of(Method method, const Options& o) {
  const auto all = record_of(method).pivotings;
  return contains(all, o.pivoting) ? o.pivoting : all.front();
}

bool has_schedule(Method method, const Options& options) {
  return options.schedule == Schedule::automatic || is_offered(method, options.schedule);
}

[[noreturn]] void refuse(Method method, const char* what, const char* word, const char* more = "") {
  throw std::invalid_argument(fmt::format("lasolve: {} has no {} '{}'{}", record_of(method).name, what, word, more));
}

void require_offered(const Options& options, const Problem& problem, const Means& means, const Recipe& r) {
  require(options.block_size >= 0, "the block size is negative");
  const Method method = options.factorization == Method::automatic ? Method::lu : options.factorization;
  require(!problem.is_complex || (!record_of(method).is_symmetric && options.triangle == Uplo::both),
          "complex matrices are given whole, and factored by LU: there is no method for Hermitian ones yet");
  if (options.pivoting != Pivoting::automatic && !contains(record_of(method).pivotings, options.pivoting))
    refuse(method, "pivoting", name_of(options.pivoting),
           "; LU has partial and tournament, and LU without interchanges is the method lu-nopivot");
  require(means.has_gmres || options.refine != Refine::gmres, "refinement by GMRES is not offered here");
  if (!has_schedule(method, options)) refuse(method, "schedule", name_of(options.schedule));
  if (!r.by_coarse && !means.offers(r.precision.products))
    require(false, does_not_offer(means.backend, means.device, r.precision.products).c_str());
}

/// What is not done yet where nobody has all of a matrix; null: nothing is asked for that is not.
const char* not_done_in_parts(const Options& o, const Problem& problem, Executor by) {
  const bool left = o.schedule == Schedule::left_looking, right = o.schedule == Schedule::right_looking;
  if (problem.is_complex) return "systems are real";
  if (problem.handed_over) return "factors do not overwrite A";
  if (by == Executor::ranks && o.factorization == Method::lu_nopivot) return "the methods are LU and Cholesky";
  if (o.schedule != Schedule::automatic) {
    const Method method = o.factorization == Method::automatic ? Method::lu : o.factorization;
    const bool is_either = right || (left && record_of(method).is_symmetric);
    if (by == Executor::out_of_core && !left) return "the schedule is left-looking";
    if (by == Executor::ranks && !right) return "the schedule is right-looking";
    if (by == Executor::cards && !is_either) return "the schedule is right-looking, or left-looking for Cholesky";
  }
  if (o.triangle != Uplo::both) return "all of A is given, not a triangle";
  if (o.storage != Precision::automatic) return "factors are stored as they are computed";
  if (o.residual == Residual::extra) return "residuals are in the precision of A";
  if (by != Executor::ranks) return nullptr;
  if (o.pivoting == Pivoting::tournament) return "pivoting is partial";
  return o.bounds || o.history ? "errors have no bounds, and residuals no history" : nullptr;
}

/// It is said, not left out.
void require_in_parts(const Options& o, const Problem& problem, Executor by) {
  const char* const what = not_done_in_parts(o, problem, by);
  if (!what) return;
  throw std::invalid_argument(
      by == Executor::ranks ? fmt::format("lasolve: over several processes {}", what)
      : by == Executor::cards && o.cards.size() > 1
          ? fmt::format("lasolve: over several cards {}: name one device instead", what)
      : by == Executor::cards
          ? fmt::format("lasolve: where A is in pieces {}: give it as one matrix", what)
          : fmt::format("lasolve: out of core {}: let the system have more of the device's memory", what));
}

/// Of two block columns and the slices that pass them, in the memory that there is. An eighth of it is for workspace.
OutOfCore slices_for(double device_bytes, const Problem& problem, Precision storage) {
  constexpr std::int64_t most_columns = 8192, most_of_slice = 1024, unit = 64, slices = 4;
  const auto whole = [](double columns, std::int64_t most) {
    const std::int64_t some = std::clamp(std::int64_t(columns), std::int64_t(0), most);
    return some < unit ? some : some / unit * unit;
  };
  const double bytes = device_bytes * 7 / 8,
               of_column = double(problem.n) * std::max(bytes_of(storage), bytes_of(problem.element));
  OutOfCore by;
  by.slice = std::max<std::int64_t>(1, whole(bytes / 4 / (slices * of_column), most_of_slice));
  by.columns = whole((bytes - double(slices * by.slice) * of_column) / (2 * of_column), most_columns);
  if (by.columns < 1)
    throw std::invalid_argument(fmt::format(
        "lasolve: out of core a device has room for two block columns and four slices: at least {} of its memory",
        in_bytes(std::ceil(of_column * (2 + slices * 4) * 8 / 7))));
  const std::int64_t even = ceil_div(problem.n, ceil_div(problem.n, by.columns));
  by.columns = std::min(by.columns, even < unit ? even : round_up(even, unit));
  by.slice = std::min(by.slice, by.columns);
  return by;
}

/// Schedule, widths, and what follows from the method.
void plan(Recipe& r, const Options& options, const Problem& problem, const Means& means) {
  const Tuning& t = *means.tuning;
  const MethodRecord& method = record_of(r.method);
  const bool out = r.executor == Executor::out_of_core;
  if (out) r.out_of_core = slices_for(means.device_bytes, problem, computed_in(r.precision.storage));
  const auto widths = [&](Schedule schedule) {
    return method.widths(t, {.schedule = out ? Schedule::right_looking : schedule,
                             .storage = computed_in(r.precision.storage),
                             .n = out ? r.out_of_core.columns : problem.n,
                             .columns = options.block_size,
                             .arrives = r.as_it_comes,
                             .queues = means.queues,
                             .cards = int(std::max<std::int64_t>(1, r.cards.count))});
  };
  const auto by_default = [&] { return method.default_schedule(t, r.quick_products); };
  const auto over_cards = [&] {  // right-looking reads few columns of L at a time, and narrow panels are many waits
    const bool goes_left = means.has_room_for_L && by_default() == Schedule::left_looking &&
                           2 * widths(Schedule::left_looking).panel > widths(Schedule::right_looking).panel;
    return goes_left ? Schedule::left_looking : Schedule::right_looking;
  };
  r.schedule = options.schedule != Schedule::automatic ? options.schedule
               : r.executor == Executor::cards         ? over_cards()
               : r.executor == Executor::ranks         ? Schedule::right_looking  // ScaLAPACK's
               : out || r.arrives                      ? Schedule::left_looking   // writes each block column once
                                                       : by_default();
  r.pivoting = pivoting_of(r.method, options);
  r.mirrors = options.triangle == Uplo::upper || (options.triangle == Uplo::lower && !method.is_symmetric);
  r.as_it_comes = r.arrives && r.schedule == Schedule::left_looking && !r.mirrors;  // rows come last
  r.widths = r.executor == Executor::leaf    ? Widths{.panel = std::max<std::int64_t>(1, problem.n)}
             : r.executor == Executor::ranks ? Widths{.panel = options.block_size}  // A is dealt out already
                                             : widths(r.schedule);
}

/// Whether a leaf does all that is asked for.
bool goes_by_leaf(const Options& o, const Problem& problem, const Means& means) {
  const bool has_leaf = o.factorization == Method::automatic || record_of(o.factorization).has_leaf;
  return has_leaf && means.fits_a_leaf && means.offers(problem.element) && o.block_size == 0 &&
         o.schedule == Schedule::automatic && !is_asked_for(o.refine) && !o.bounds && o.accuracy == 0 && !o.history &&
         o.residual == Residual::working && o.equilibrate != Wanted::on && o.storage == Precision::automatic &&
         o.pivoting != Pivoting::tournament && (o.precision == Precision::automatic || o.precision == problem.element);
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
  if ((r.refines() && r.is_coarse()) || r.executor == Executor::ranks) return Estimate::never;  // no pivots are seen
  const bool waits_for_factors = r.executor == Executor::leaf || r.executor == Executor::out_of_core;
  return waits_for_factors || r.in_place || is_dear(r, n) ? Estimate::in_doubt : Estimate::always;
}

/// Whether A is factored as it comes, which pays where it is large, and goes where nothing has to be known of it before.
bool goes_as_it_comes(const Recipe& r, bool picks, const Problem& problem, const Tuning& t) {
  const double bytes = double(problem.n) * double(problem.n) * bytes_of(problem.element) * (problem.is_complex ? 2 : 1);
  const bool looks = picks || r.finite || r.condition == Estimate::always;
  return problem.from_host && bytes >= double(t.arriving_bytes) && !r.asks_dominance && !(r.in_place && looks) &&
         !has_narrow_range(r.precision) && r.scaled == Scaled::none;
}

/// When a method that the options leave open finds out what it requires of A.
Symmetry when_found_out(const Recipe& r, const Options& o, const Problem& problem, const Tuning& t) {
  if (o.triangle != Uplo::both) return Symmetry::given;
  if (r.arrives) return Symmetry::after;
  const bool is_large =
      double(problem.n) * double(problem.n) * bytes_of(computed_in(r.precision.storage)) >= double(t.waited_copy_bytes);
  const bool pays = problem.n <= t.cholesky_tried_order || (problem.glance == Method::cholesky && !is_large);
  const bool beside =
      pays && !r.in_place && r.scaled == Scaled::none && !has_narrow_range(r.precision) && r.executor == Executor::plan;
  return beside ? Symmetry::beside : Symmetry::before;
}

}  // namespace

double bytes_in_core(const Options& o, const Problem& problem) {
  const bool as_A = o.precision == Precision::automatic && o.storage == Precision::automatic;
  const auto found = find_solve_precision(as_A ? problem.element : o.precision, o.storage);
  const double of_A = bytes_of(problem.element), of_factors = found ? bytes_of(found->storage) : of_A;
  const bool reads_A_again = !problem.handed_over && (o.check || of_factors < of_A || is_asked_for(o.refine));
  return double(problem.n) * double(problem.n) * (problem.is_complex ? 2 : 1) *
         (of_factors + (reads_A_again ? of_A : 0));
}

bool goes_out_of_core(const Options& o, const Problem& problem, double device_bytes) {
  if (device_bytes <= 0 || problem.n == 0 || bytes_in_core(o, problem) <= device_bytes) return false;
  return o.device_memory > 0 || !not_done_in_parts(o, problem, Executor::out_of_core);
}

/// The recipe that is tried first. Where the options leave the method open, and Cholesky is worth a try, that is its method.
static Recipe first_recipe(const Options& o, const Problem& problem, const Means& means) {
  const Tuning& t = *means.tuning;
  if (o.tuning) require_sensible(*o.tuning);
  Recipe r;
  r.device = means.device, r.cards = means.cards;
  r.executor = means.is_shared                                    ? Executor::ranks
               : r.cards.count > 1                                ? Executor::cards
               : goes_out_of_core(o, problem, means.device_bytes) ? Executor::out_of_core
               : problem.by_columns                               ? Executor::cards  // of which there is one
               : goes_by_leaf(o, problem, means)                  ? Executor::leaf
                                                                  : Executor::plan;
  const bool in_parts = r.executor == Executor::cards || r.executor == Executor::out_of_core;
  if (in_parts || means.is_shared) require_in_parts(o, problem, r.executor);
  require_reachable(o, problem);
  const bool coarse = is_faster_coarse(o, problem, means);
  r.precision = solve_precision(coarse ? Precision::fp32 : o.precision, o.storage, problem.element);
  r.by_coarse = coarse && means.coarse;
  r.backend = r.by_coarse ? means.coarse : means.backend;
  r.quick_products = r.by_coarse || means.is_quick;
  r.accuracy = o.accuracy;
  require_offered(o, problem, means, r);
  r.extra = o.residual == Residual::extra, r.history = o.history;
  require(!r.extra || o.refine != Refine::none, "residuals of a refinement are asked for, but none is to be made");
  r.refine = o.refine != Refine::automatic ? o.refine : r.is_coarse() || r.extra ? Refine::classical : Refine::none;
  r.finite = o.check && !o.allow_nonfinite;
  const bool picks = o.factorization == Method::automatic && has_schedule(Method::cholesky, o) &&
                     problem.glance != Method::lu && !problem.is_complex && !in_parts;
  const bool not_read_again = !in_parts && problem.from_host && !o.check && !r.is_coarse() && !r.refines() && !picks;
  r.in_place = problem.handed_over || not_read_again;
  require(!problem.handed_over || (!r.is_coarse() && !r.refines()),
          "factors in place of A leave nothing to refine with");
  r.check = o.check && !r.in_place;
  r.bounds = o.bounds && r.check;
  r.gmres_follows = o.refine == Refine::automatic && means.has_gmres;
  if (o.equilibrate == Wanted::on) r.scaled = Scaled::rows_and_columns;
  r.equilibrates_in_need = o.equilibrate == Wanted::automatic && !r.in_place;
  r.mends = r.check && o.refine == Refine::automatic && !r.refines();
  r.method = picks ? Method::cholesky : o.factorization == Method::automatic ? Method::lu : o.factorization;
  r.condition = when_estimated(r, o, problem.n);
  r.asks_dominance = record_of(r.method).is_dominant && !o.assume_suitable;
  r.arrives = r.executor == Executor::plan && goes_as_it_comes(r, picks, problem, t);
  if (picks) r.symmetry = when_found_out(r, o, problem, t);
  plan(r, o, problem, means);
  return r;
}

/// Whether A may turn out to need that, or has it from the beginning.
static bool may_need(const Recipe& first, Scaled scaled) {
  if (first.executor == Executor::leaf || first.scaled != Scaled::none) return scaled == first.scaled;
  return scaled != Scaled::rows_and_columns || first.equilibrates_in_need;
}

Recipes resolve(const Options& o, const Problem& problem, const Means& means) {
  const Recipe first = first_recipe(o, problem, means);
  Recipes recipes;
  recipes.add(first);
  Recipe as_first = first;  // but for what is only asked, or done, once
  as_first.symmetry = Symmetry::given, as_first.arrives = false;
  const bool has_other_method = o.factorization == Method::automatic && first.method == Method::cholesky;
  const Method last_method = has_other_method ? Method::lu : first.method;
  Recipe finer = as_first;
  const bool has_finer = first.is_coarse() && first.refines() && means.offers(problem.element);
  if (has_finer) {
    finer.precision = solve_precision(problem.element, Precision::automatic, problem.element);
    finer.by_coarse = finer.quick_products = false, finer.backend = means.backend;
    if (means.is_shared && o.refine == Refine::automatic)  // A may be made again for each residual
      finer.refine = Refine::none, finer.mends = finer.check;
    finer.method = last_method, finer.condition = when_estimated(finer, o, problem.n);
  }
  const auto add = [&](const Recipe& like, Method method, bool is_first, bool by_tournament) {
    if (is_first && first.pivoting != Pivoting::tournament) return;
    Recipe r = like;
    r.method = method;
    plan(r, o, problem, means);
    const bool tournament = r.pivoting == Pivoting::tournament;
    if (tournament && by_tournament && !is_first) recipes.add(r);
    if (tournament) r.pivoting = Pivoting::partial;
    if (!is_first || (tournament && !r.in_place)) recipes.add(r);
  };
  for (const Scaled scaled : {Scaled::none, Scaled::up, Scaled::rows_and_columns}) {
    if (!may_need(first, scaled)) continue;
    const bool as_given = scaled == first.scaled;
    as_first.scaled = finer.scaled = scaled;
    add(as_first, first.method, as_given, as_given);
    if (has_other_method) add(as_first, last_method, false, as_given);
    if (has_finer) add(finer, first.method, false, false);
    if (has_finer && has_other_method) add(finer, last_method, false, false);
  }
  return recipes;
}

const Recipe* Recipes::after(const Recipe& tried, Reason why) const {
  const bool other_method = why == Reason::not_positive_definite, other_precision = why == Reason::too_coarse;
  if (other_method && tried.method != Method::cholesky) return nullptr;
  if (other_precision && !tried.is_coarse()) return nullptr;
  if (why == Reason::elements_grew && tried.pivoting != Pivoting::tournament) return nullptr;
  if (why == Reason::badly_scaled && tried.scaled == Scaled::rows_and_columns) return nullptr;
  if (why == Reason::too_small && tried.scaled == Scaled::up) return nullptr;
  const Scaled scaled = why == Reason::too_small      ? Scaled::up
                        : why == Reason::badly_scaled ? Scaled::rows_and_columns
                                                      : tried.scaled;
  return find_in(*this, [&](const Recipe& next) {
    return next.number > tried.number && (next.method != tried.method) == other_method &&
           (next.precision.name != tried.precision.name) == other_precision && next.scaled == scaled &&
           (why != Reason::elements_grew || next.pivoting == Pivoting::partial);
  });
}

}  // namespace lasolve
