// How the factors of a matrix come about: recipes are tried, and replaced by the next where they were in vain.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/choose.hpp"
#include "core/fetched.hpp"
#include "core/settled.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/names.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/not_finite.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/driver/times.hpp"
#include "solvers/refine/dominance.hpp"
#include "solvers/refine/equilibration.hpp"
#include "solvers/refine/known_matrix.hpp"

namespace lasolve {

/// Makes a queue wait for the first columns of a matrix that is still arriving.
template <class Space>
using Await = std::function<void(Queue<Space>&, std::int64_t columns)>;

template <class T, class Space>
class Factoring {
 public:
  using Factored = lasolve::Factored<T, Space>;

  /// Throws where memory is short.
  Factoring(Queue<Space>& q, const GemmBackend<Space>& gemm, Given<T, Space> given, const Recipes& recipes,
            const Options& options)
      : A(given.spread ? KnownMatrix<T, Space>(*given.spread) : KnownMatrix<T, Space>(given.A, options.triangle)),
        q_(q),
        gemm_(gemm),
        coarse_(coarse_backend<Space>(options, options.device.index)),
        recipes_(recipes),
        triangle_(options.triangle),
        progress_(options.progress),
        memory_(std::move(given.memory)),
        make_(std::move(given.make)) {
    if (!in_place() && !make_) require_memory();
  }
  Factoring(const Factoring&) = delete;
  Factoring& operator=(const Factoring&) = delete;

  KnownMatrix<T, Space> A;  ///< overwritten if in place

  const Recipe& first() const { return recipes_.first(); }
  /// What comes after a recipe that was tried; null: nothing.
  const Recipe* after(const Recipe& tried, Reason why) const { return recipes_.after(tried, why); }
  void tell(const Recipe& taken) const { tell_recipe(recipes_, taken); }
  bool in_place() const { return first().in_place; }

  /// Factors by the first recipe that serves. With `await`, A is still arriving. `since`: when what q was given and nobody has waited for
  /// began, as a copy of A.
  Factored factors(Facts facts, Await<Space> await, std::optional<Stopwatch> since) {
    since_ = since;
    Recipe recipe = first();
    tell_recipe(recipes_, recipe);
    if (recipe.asks_dominance && !is_diagonally_dominant(q_, A)) {
      require_finite();
      facts.outcome = {Outcome::unsuitable, 0};
      waited_for(facts);
      return {recipe, std::move(facts)};
    }
    if (!recipe.arrives && recipe.symmetry != Symmetry::beside && !examine_A(facts))
      recipe = *after(recipe, Reason::not_positive_definite);
    if (recipe.scaled == Scaled::none && is_too_small()) recipe = *after(recipe, Reason::too_small);
    Factored made = factored(recipe, std::move(facts), await);
    if (made.recipe.is_coarse() && !made.facts.outcome.ok()) {
      const std::string in = std::string("in ") + name_of(made.recipe.precision.name);
      if (const auto finer = after(made.recipe, Reason::too_coarse)) {
        made.factors.reset();
        const std::string why = in + ", " + made.facts.outcome.message();
        made = fallen_back(made.recipe, *finer, std::move(made.facts), why);
      } else {
        made.facts.notes.push_back("this was found " + in + ", which is coarser than A");
      }
    }
    if (!made.facts.outcome.ok()) {
      made.factors.reset();  // they serve nobody
      if (std::optional<Factored> scaled = equilibrated(made, made.facts.notes)) return *std::move(scaled);
    }
    return made;
  }

  /// Whether what is known of A shows that it has to be scaled up.
  bool is_too_small() { return A.knows_norm(op_of_norm()) && exponent_of_A() != 0; }

  /// Factors of an A that is too small, given those of A as it is.
  Factored scaled_up(const Factored& before) {
    return factored(*after(before.recipe, Reason::too_small), Facts(before.facts));
  }

  /// Factors of A with its rows and columns scaled, given those of A as it is that served nobody; none: it does not help, or is not wanted,
  /// or there is no memory for them beside the others, which `notes` then says.
  std::optional<Factored> equilibrated(const Factored& before, std::vector<std::string>& notes) {
    const auto next = after(before.recipe, Reason::badly_scaled);
    if (!next || !scales_of(q_, A, record_of(next->method).is_symmetric, false)) return {};
    Facts facts = before.facts;
    facts.notes.push_back(rows_and_columns_were_scaled(facts.outcome));
    try {
      Factored scaled = factored(*next, std::move(facts));
      if (scaled.facts.outcome.ok()) return scaled;
    } catch (const OutOfMemory&) {
      notes.push_back(no_memory_to_equilibrate);
    }
    tell_recipe(recipes_, before.recipe);
    return {};
  }

  /// Factors in the precision of A, or by partial pivoting, given what is known of those that were tried.
  Factored fallen_back(const Recipe& tried, const Recipe& next, Facts facts, const std::string& why) {
    facts.notes.push_back(why + ": " + used_instead(tried, next));
    return factored(next, std::move(facts));
  }

 private:
  static constexpr double not_asked_for = 1 << 20;  // bytes: to ask takes microseconds, and who takes them is told, too

  double bytes_of_factors() const {
    const Precision storage = first().precision.storage, computed = computed_in(storage);
    return parts<T> * double(A.order()) * double(A.order()) *
           (bytes_of(computed) + (storage != computed) * bytes_of(storage));
  }
  void require_memory() const {
    const double wanted = bytes_of_factors();
    if (wanted <= not_asked_for) return;
    const auto free = Memory<Space>::available(std::size_t(wanted));
    if (wanted > double(free))
      throw OutOfMemory(std::is_same_v<Space, Cuda> ? "device" : "host", std::size_t(wanted), free);
  }

  /// So that one wait more is nothing beside its factorization.
  bool is_large() const { return bytes_of_factors() >= double(q_.tuning().waited_copy_bytes); }

  /// Of which A the norm is needed later, too.
  Op op_of_norm() const { return first().check ? Op::none : Op::transpose; }

  void require_finite() {
    if (!first().finite) return;
    q_.phase(Phase::check);
    lasolve::require_finite(std::isfinite(A.norm(q_, op_of_norm())), "the matrix has");
  }

  /// Before A is factored, with one wait for all that is asked of it, or with none where that can come with the factors. Whether A is
  /// what the first recipe requires, as far as that is to be found out before.
  bool examine_A(Facts& facts) {
    const Recipe& recipe = first();
    const bool asks = recipe.symmetry == Symmetry::before;
    // What is checked, for its norm; in place for rcond(): n² reads, before A is overwritten.
    const bool measures = recipe.check || recipe.finite || recipe.in_place;
    Fetched<bool> may_be_positive = true;
    const Stopwatch asking;
    q_.phase(Phase::check);
    if (measures) A.measure(q_, op_of_norm());
    const bool is_overwritten_unseen = recipe.in_place && (recipe.finite || recipe.condition == Estimate::always);
    if (!asks && !is_overwritten_unseen && !is_large()) {
      if (!since_) since_ = asking;
      return true;
    }
    q_.phase(Phase::other);
    if (asks) may_be_positive = may_be_positive_definite(q_, A.view());
    if (measures) A.norm(q_, op_of_norm());
    require_finite();
    const bool may_be = *may_be_positive;
    if (measures || asks) waited_for(facts);
    return may_be;
  }

  /// Factors by a recipe. Where A is not what it requires, by the next. `facts`: what is known so far.
  Factored factored(const Recipe& by, Facts&& facts, const Await<Space>& await = {}) {
    const std::int64_t n = A.order();
    tell_recipe(recipes_, by);
    facts.rcond = {}, facts.inverse = {}, facts.of_factors = {}, facts.rcond_is_sure = true;
    facts.excess_of_inverse = {}, facts.growth = {};
    q_.phase(Phase::other);
    Scales scales = scales_for(by, facts);
    facts.equilibration = by.scaled != Scaled::none ? scales.kind() : Equilibration::none;
    auto factors = make_ ? make_(by, std::move(scales))
                         : decomposition_by<T>(by, by.by_coarse ? *coarse_ : gemm_, n, in_place() ? &*memory_ : nullptr,
                                               std::move(scales));
    facts.gemm = factors->backend();
    const Settled settled(q_, [&] {
      if (by.arrives) await(q_, n);  // what is still to come may come to the memory of the factors
    });
    factors->prepare(q_, by);
    std::optional<Fetched<MatrixFacts>> look;
    if (by.arrives && !by.as_it_comes) await(q_, n);
    if (by.symmetry == Symmetry::beside)
      look = factors->take_speculatively(q_, A.view());
    else if (!by.as_it_comes)
      factors->take(q_, A.view());
    if (by.mirrors) factors->mirror_triangle(q_, triangle_);
    run(*factors, await, look, by, facts);
    if (!in_place() && (by.arrives || look || A.has_norm(op_of_norm()))) require_finite();
    if (!in_place() && A.is_being_measured(op_of_norm())) A.norm(q_, op_of_norm());
    if (!in_place() && by.scaled == Scaled::none && is_too_small()) {
      factors.reset();
      return factored(*after(by, Reason::too_small), std::move(facts));
    }
    const bool in_vain = look && !(*look)->may_be_positive_definite;
    const Recipe* const instead = after(by, Reason::not_positive_definite);
    const std::string why = in_vain || !instead ? "" : why_in_vain(by, facts.outcome);
    facts.times.take(q_);
    if (facts.outcome.ok() && measures_growth(by) && A.order() > 0) {
      q_.phase(Phase::check);
      if (const auto sizes = factors->sizes(q_)) facts.growth = growth_of(q_, A, factors->scales(), *sizes);
      facts.times.take(q_);
      if (const auto partial = after(by, Reason::elements_grew);
          partial && facts.growth && has_grown(by, *facts.growth)) {
        factors.reset();
        const std::string note = elements_grew(*facts.growth);
        return fallen_back(by, *partial, std::move(facts), note);
      }
    }
    factors->release_workspace();
    if (!in_vain && why.empty()) return {by, std::move(facts), std::move(factors)};
    if (in_place()) {
      facts.notes.push_back("A was overwritten, so that LU could not be tried; ask for LU by name");
      return {by, std::move(facts), std::move(factors)};
    }
    if (!why.empty()) facts.notes.push_back(lu_was_used(why));
    factors.reset();
    return factored(*instead, std::move(facts));
  }

  /// Beside error bounds, and of a tournament, whose pivots need not be the largest elements of their columns.
  static bool measures_growth(const Recipe& by) {
    return record_of(by.method).may_grow && !by.in_place && (by.bounds || by.pivoting == Pivoting::tournament);
  }
  /// Whether so much that half of the digits of the factors may be lost, and some.
  static bool has_grown(const Recipe& by, const Growth& growth) {
    const double most = 4 / std::sqrt(by.precision.unit_roundoff());
    return growth.of_elements * std::max(1.0, growth.largest_multiplier) > most;
  }

  int exponent_of_A() { return exponent_of_subnormal<T>(A.norm(q_, op_of_norm())); }

  /// What A is multiplied by. Says so where A itself is the reason. In a narrow range the largest entry is near 1.
  Scales scales_for(const Recipe& by, Facts& facts) {
    if (by.scaled == Scaled::rows_and_columns)
      return scales_of(q_, A, record_of(by.method).is_symmetric, true).value_or(Scales());
    if (by.scaled == Scaled::up) {
      const int exponent = exponent_of_A();
      const std::string note = scaled_as_subnormal(exponent);
      if (std::find(facts.notes.begin(), facts.notes.end(), note) == facts.notes.end()) facts.notes.push_back(note);
      return {exponent};
    }
    if (!has_narrow_range(by.precision)) return {};
    const long double most = A.largest_element(q_);
    return {std::isfinite(most) && most > 0 ? -std::ilogb(most) : 0};
  }

  /// Factors, with one wait for how that ended and for the look at A.
  void run(Decomposition<T, Space>& factors, const Await<Space>& await, std::optional<Fetched<MatrixFacts>>& look,
           const Recipe& by, Facts& facts) {
    const double flops = factors.method().flops(double(A.order()));
    const TaskWatcher* const watcher = task_watcher();
    if (watcher || progress_ || is_large())
      waited_for(facts);  // what was done until now is no progress, nor is it part of factor_seconds
    facts.times.set_aside();
    if (progress_ && !look) q_.on_progress([this, flops](double done) { progress_(std::min(1.0, done / flops)); });
    std::optional<TaskClock<Space>> clock;
    if (watcher) clock.emplace(q_, *watcher);
    const Stopwatch factoring;
    q_.phase(Phase::other);
    const Arriving<T, Space> arriving{A.view(), await};
    factors.factor(q_, by, by.as_it_comes ? &arriving : nullptr, clock ? &*clock : nullptr);
    auto ended = factors.ending(q_);
    if (look) A.measured(q_, Op::none, (*look)->row_sums);
    const Ending ending = *ended;
    const double factored = factoring.seconds(), all = since_.value_or(factoring).seconds();
    if (in_place()) A.keep_measured(op_of_norm());
    facts.outcome = factors.outcome_of(ending, facts.outcome.of_rows);
    facts.products_of = factors.products_of();
    facts.small_below = facts.products_of.empty() ? 0 : (by.by_coarse ? *coarse_ : gemm_).small_below;
    facts.range_of_pivots = range_of_pivots(ending.least, ending.most, factors.method().power_of_pivots);
    q_.finish();
    q_.on_progress({});
    if (progress_ && look && facts.outcome.ok()) progress_(1);  // what may be in vain is no progress
    if (clock) clock->tell();
    PhaseTimes times = q_.take_times();
    facts.cards = factors.cards();
    times += of_the_busiest(facts.cards);
    const double wall = all - times.seconds_of(Phase::check);
    facts.factor_seconds = std::min(factored, wall - times.seconds_of(Phase::to_device));
    facts.times.add(times, wall);
    since_.reset();
    if (facts.outcome.ok())
      note_pivots(
          ending, [&] { return known_norm(by); }, by, facts);
  }

  /// Of what is factored.
  std::optional<double> known_norm(const Recipe& by) {
    if (by.scaled != Scaled::none || !A.has_norm(op_of_norm())) return {};
    return double(A.norm(q_, op_of_norm()));
  }

  void waited_for(Facts& facts) {
    facts.times.take(q_);
    since_.reset();
  }

  /// Why a Cholesky whose requirements nobody has promised was in vain; empty: it was not.
  std::string why_in_vain(const Recipe& by, const Outcome& outcome) {
    if (by.symmetry == Symmetry::after && !*may_be_positive_definite(q_, A.view()))
      return "symmetric at a first glance only";
    if (outcome.kind != Outcome::not_positive_definite) return "";
    return A.is_whole() ? why_no_cholesky(outcome) : outcome.message();
  }

  Queue<Space>& q_;
  const GemmBackend<Space>& gemm_;
  const GemmBackend<Space>* const coarse_;  // null unless a recipe has it
  const Recipes recipes_;
  const Uplo triangle_;
  const std::function<void(double)> progress_;
  std::optional<Matrix<T, Space>> memory_;  // that of A, handed over, until the factors have it
  const std::function<std::unique_ptr<Decomposition<T, Space>>(const Recipe&, Scales&&)>
      make_;                        // else by decomposition_by
  std::optional<Stopwatch> since_;  // what came before the factorization, and goes on beside its beginning
};

}  // namespace lasolve
