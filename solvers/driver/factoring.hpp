// How the factors of a matrix come about: a method and a precision are chosen, tried, and replaced where they were in vain.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/choose.hpp"
#include "core/fetched.hpp"
#include "core/settled.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/blocking.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/not_finite.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/driver/times.hpp"
#include "solvers/refine/known_matrix.hpp"

namespace lasolve {

/// Makes a queue wait for the first columns of a matrix that is still arriving.
template <class Place>
using Await = std::function<void(Queue<Place>&, std::int64_t columns)>;

template <class T, class Place>
class Factoring {
 public:
  using Factored = lasolve::Factored<T, Place>;

  /// Throws where factors in place are asked for that leave nothing to refine with, and where memory is short.
  Factoring(Queue<Place>& q, const GemmBackend<Place>& gemm, Given<T, Place> given, const Options& options)
      : A(given.A, options.triangle),
        options(options),
        wanted_(solve_precision(options.precision, precision_of<T>)),
        refine_(refine_for(options, wanted_)),
        q_(q),
        gemm_(gemm),
        given_(given.A),
        memory_(std::move(given.memory)) {
    require(given.A.rows() == given.A.cols(), "the matrix is not square");
    require_offered(gemm, options, wanted_.products);
    if (in_place())
      require(!is_coarse(wanted_) && refine_ == Refine::none, "factors in place of A leave nothing to refine with");
    else
      require_memory();
  }
  Factoring(const Factoring&) = delete;
  Factoring& operator=(const Factoring&) = delete;

  KnownMatrix<T, Place> A;  ///< overwritten if in place
  Options options;

  bool in_place() const { return memory_.has_value(); }
  /// 2^exponent A has the place of an A that was given: see exponent_of_subnormal().
  int exponent() const { return exponent_; }
  /// Whether the backend offers the precision of A.
  bool may_be_as_fine_as_A() const { return offers(gemm_, precision_of<T>); }

  /// Factors as the options say, and else as they can be. An automatic method may be tried that is `likely`. With `await`, A is still
  /// arriving, and is factored as it comes, by that; if it was Cholesky in vain, by LU when all is there. `since`: when what q was given
  /// and nobody has waited for began, as a copy of A.
  Factored factors(Facts facts, Await<Place> await, Method likely, std::optional<Stopwatch> since) {
    since_ = since;
    const bool picks = options.factorization == Method::automatic && may_go_by_schedule(options, Method::cholesky);
    const bool tries = picks && !await && may_be_tried(likely);
    likely = !picks ? Method::lu : A.is_whole() ? likely : Method::cholesky;
    const bool may_be_positive = !await && (tries || look_at_A(picks, facts));
    scales_up(facts);
    if (in_place() && std::exchange(options.check, false)) facts.notes.push_back(not_checked_in_place);
    const Method method = options.factorization != Method::automatic ? options.factorization
                          : await                                    ? likely
                          : may_be_positive                          ? Method::cholesky
                                                                     : Method::lu;
    Factored made = factored({wanted_, refine_, method}, std::move(facts), {std::move(await), tries});
    if (!is_coarse(wanted_) || made.facts.outcome.ok()) return made;
    const std::string in = std::string("in ") + name_of(wanted_.name);
    if (refine_ == Refine::none || !may_be_as_fine_as_A()) {
      made.facts.notes.push_back("this was found " + in + ", which is coarser than A");
      return made;
    }
    made.release();
    const std::string why = in + ", " + made.facts.outcome.message();
    return fallen_back(made.decided, std::move(made.facts), why);
  }

  /// Where what is known of A shows that it is subnormal: has 2^exponent A take its place, and says so. It has not been factored, or
  /// its factors are given up.
  bool scales_up(Facts& facts) {
    if (exponent_ != 0 || !A.knows_norm(op_of_norm())) return false;
    const int exponent = exponent_of_subnormal<T>(A.norm(q_, op_of_norm()));
    if (exponent == 0) return false;
    q_.phase(Phase::other);
    if (!in_place()) scaled_ = Matrix<T, Place>(A.order(), A.order());
    const MatrixView<T, Place> to = in_place() ? memory_->view() : scaled_.view();
    scale<T>(q_, exponent, A.view(), to);
    A = KnownMatrix<T, Place>(to, options.triangle);
    exponent_ = exponent;
    A.measure(q_, op_of_norm());
    facts.notes.push_back(scaled_as_subnormal(exponent_));
    return true;
  }

  /// Factors of an A that was scaled up, given what is known of those before. What throws leaves A as it was given.
  Factored again(const Decided& before, Facts&& facts) {
    try {
      return factored({wanted_, refine_, before.method}, std::move(facts));
    } catch (...) {
      A = KnownMatrix<T, Place>(given_, options.triangle);
      exponent_ = 0;
      throw;
    }
  }

  /// Factors in the precision of A, given what is known of coarser ones.
  Factored fallen_back(const Decided& before, Facts facts, const std::string& why) {
    const SolvePrecision own = solve_precision(Precision::automatic, precision_of<T>);
    facts.notes.push_back(why + ": " + name_of(own.name) + " factors were used instead");
    return factored({own, refine_, before.method}, std::move(facts));
  }

 private:
  /// How A comes to the factors.
  struct Coming {
    Await<Place> await = {};  ///< it is still arriving
    bool tries = false;       ///< Cholesky, while A is looked at
  };

  static constexpr double not_asked_for = 1 << 20;  // bytes: to ask takes microseconds, and who takes them is told, too

  void require_memory() const {
    const double n = double(A.order()), wanted = n * n * bytes_of(wanted_.storage);
    if (wanted <= not_asked_for) return;
    const auto free = Memory<Place>::available(std::size_t(wanted));
    if (wanted > double(free))
      throw OutOfMemory(std::is_same_v<Place, Cuda> ? "device" : "host", std::size_t(wanted), free);
  }

  bool is_watched() const { return options.progress || task_watcher(); }
  /// So that one wait more is nothing beside its factorization.
  bool is_large() const { return A.order() * A.order() * bytes_of(wanted_.storage) >= q_.tuning().waited_copy_bytes; }

  bool may_be_tried(Method likely) const {
    const bool is_worth_it =
        A.order() <= q_.tuning().cholesky_tried_order || (likely == Method::cholesky && !is_large());
    return is_worth_it && !is_watched() && !in_place() && A.is_whole() && !has_narrow_range(wanted_.products);
  }

  bool requires_finite() const { return options.check && !options.allow_nonfinite; }
  /// Of which A the norm is needed later, too.
  Op op_of_norm() const { return in_place() || !options.check ? Op::transpose : Op::none; }

  void require_finite() {
    if (!requires_finite()) return;
    q_.phase(Phase::check);
    lasolve::require_finite(std::isfinite(A.norm(q_, op_of_norm())), "the matrix has");
  }

  /// Before A is factored, with one wait for all that is asked of it, or with none where that can come with the factors. Whether it may
  /// be positive definite, where `picks`.
  bool look_at_A(bool picks, Facts& facts) {
    const bool measures = requires_finite() || in_place();  // in place for rcond(): n² reads, before A is overwritten
    Fetched<bool> may_be_positive = picks;                  // what a triangle lacks is the caller's word
    const Stopwatch asking;
    q_.phase(Phase::check);
    if (measures) A.measure(q_, op_of_norm());
    const bool is_overwritten_unseen = in_place() && (requires_finite() || options.condition);
    if (!picks && !is_overwritten_unseen && !is_watched() && !is_large()) {
      if (!since_) since_ = asking;
      return false;
    }
    q_.phase(Phase::other);
    if (picks && A.is_whole()) may_be_positive = may_be_positive_definite(q_, A.view());
    if (measures) A.norm(q_, op_of_norm());
    require_finite();
    const bool may_be = *may_be_positive;
    if (measures || picks) waited_for(facts);
    return may_be;
  }

  /// Factors in a precision, in the type that they are stored in.
  Factored factored(Decided decided, Facts&& facts, Coming coming = {}) {
    return decided.precision.storage == precision_of<T>
               ? factored_in<T>(decided, std::move(facts), std::move(coming))
               : factored_in<float>(decided, std::move(facts), std::move(coming));
  }

  /// The same, stored in F; a Cholesky that was not asked for by name falls back to LU. `facts`: what is known so far.
  template <class F>
  Factored factored_in(Decided by, Facts&& facts, Coming coming) {
    const Precision products = by.precision.products;
    const Gemm<F, Place> gemm(gemm_, products);
    const std::int64_t n = A.order();
    const Await<Place>& await = coming.await;
    decide_blocking(q_, options, bool(await), n, by);
    facts.rcond = {};
    q_.phase(Phase::other);
    auto factors = std::make_unique<Factors<F, Place>>(by.method, memory_for<F>(), exponent_for(products));
    const Settled settled(q_, [&] {
      if (await) await(q_, n);  // what is still to come may come to the memory of the factors
    });
    const bool mirrors = must_mirror(by.method, options.triangle);
    const bool as_it_comes = await && by.schedule == Schedule::left_looking && !mirrors;  // rows come last
    prepare_factorization<F>(q_, gemm, by.method, by.schedule, n, by.block_size, as_it_comes);
    std::optional<Fetched<Look>> look;
    if (await && !as_it_comes) await(q_, n);
    if (coming.tries)
      look = factors->take_on_trial(q_, A.view());
    else if (!as_it_comes)
      factors->take(q_, A.view());
    if (mirrors) mirror(q_, factors->whole(), options.triangle);
    run(gemm, *factors, as_it_comes ? supply_by<F>(await) : Supply<F, Place>(), look, by, facts);
    if (await || look || A.has_norm(op_of_norm())) require_finite();
    if (!in_place() && scales_up(facts)) {
      factors.reset();
      return factored_in<F>(by, std::move(facts), {});
    }
    const bool in_vain = look && !(*look)->may_be_positive_definite;
    const std::string why = in_vain ? "" : why_lu_instead(by.method, facts.outcome, bool(await));
    facts.times.take(q_);
    if (!in_vain && why.empty()) return {by, std::move(facts), std::move(factors)};
    if (in_place()) {
      facts.notes.push_back("A was overwritten, so that LU could not be tried; ask for LU by name");
      return {by, std::move(facts), std::move(factors)};
    }
    if (!why.empty()) facts.notes.push_back(lu_was_used(why));
    by.method = Method::lu;
    factors.reset();
    return factored_in<F>(by, std::move(facts), {});
  }

  /// What the factors will be in: that of A, or new memory.
  template <class F>
  Matrix<F, Place> memory_for() {
    if constexpr (std::is_same_v<F, T>)
      if (in_place()) return std::move(*memory_);
    return Matrix<F, Place>(A.order(), A.order());
  }

  /// That of the largest entry, where products have so narrow a range that it has to be 1.
  int exponent_for(Precision products) {
    if (!has_narrow_range(products)) return 0;
    const double most = largest(*column_norms<T>(q_, A.view()));
    return std::isfinite(most) && most > 0 ? std::ilogb(most) : 0;
  }

  /// Columns of A that have arrived.
  template <class F>
  Supply<F, Place> supply_by(const Await<Place>& await) {
    return [this, &await](Queue<Place>& q, std::int64_t first, MatrixView<F, Place> columns) {
      await(q, first + columns.cols());
      q.phase(Phase::other);
      convert(q, A.view().columns(first, columns.cols()), columns);
    };
  }

  /// Factors, with one wait for how that ended and for the look at A.
  template <class F>
  void run(const Gemm<F, Place>& gemm, Factors<F, Place>& factors, const Supply<F, Place>& supply,
           std::optional<Fetched<Look>>& look, const Decided& by, Facts& facts) {
    const double flops = flops_of(by.method, double(A.order()));
    const TaskWatcher* const watcher = task_watcher();
    if (is_watched() || is_large())
      waited_for(facts);  // what was done until now is no progress, nor is it part of factor_seconds
    facts.times.set_aside();
    if (options.progress) q_.on_progress([this, flops](double done) { options.progress(std::min(1.0, done / flops)); });
    std::optional<TaskClock<Place>> clock;
    if (watcher) clock.emplace(q_, *watcher);
    const Stopwatch factoring;
    q_.phase(Phase::other);
    factors.factor(q_, gemm, by.schedule, by.block_size, supply, clock ? &*clock : nullptr);
    auto ended = factors.ending(q_);
    if (look) A.measured(q_, Op::none, (*look)->row_sums);
    const Ending ending = *ended;
    const double factored = factoring.seconds(), all = since_.value_or(factoring).seconds();
    if (in_place()) A.keep_measured(op_of_norm());
    facts.outcome = factors.outcome_of(ending, facts.outcome.of_rows);
    tell_products(gemm, facts);
    q_.finish();
    q_.on_progress({});
    if (clock) clock->tell();
    const PhaseTimes times = q_.take_times();
    const double wall = all - times.seconds_of(Phase::check);
    facts.factor_seconds = std::min(factored, wall - times.seconds_of(Phase::to_device));
    facts.times.add(times, wall);
    since_.reset();
    if (facts.outcome.ok())
      note_pivots(
          factors.pivots_of(ending), [this] { return known_norm(); }, by, facts);
  }

  std::optional<double> known_norm() {
    if (!A.has_norm(op_of_norm())) return {};
    return double(A.norm(q_, op_of_norm()));
  }

  void waited_for(Facts& facts) {
    facts.times.take(q_);
    since_.reset();
  }

  /// Why LU has to take the place of a Cholesky that was not asked for by name; empty: it has not.
  std::string why_lu_instead(Method method, const Outcome& outcome, bool was_arriving) {
    if (method != Method::cholesky || options.factorization != Method::automatic) return "";
    if (was_arriving && A.is_whole() && !*may_be_positive_definite(q_, A.view()))
      return "symmetric at a first glance only";
    if (outcome.kind != Outcome::not_positive_definite) return "";
    return A.is_whole() ? why_no_cholesky(outcome) : outcome.message();
  }

  const SolvePrecision wanted_;
  const Refine refine_;
  Queue<Place>& q_;
  const GemmBackend<Place>& gemm_;
  const MatrixView<const T, Place> given_;
  std::optional<Matrix<T, Place>> memory_;  // that of A, handed over, until the factors have it
  int exponent_ = 0;
  Matrix<T, Place> scaled_;         // 2^exponent A, where A is subnormal and the caller's
  std::optional<Stopwatch> since_;  // what came before the factorization, and goes on beside its beginning
};

}  // namespace lasolve
