// Whether the answer to a system with a known solution is as good as its report says.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "lasolve/names.hpp"
#include "solvers/watch.hpp"
#include "system.hpp"

namespace lasolve::fuzz {

enum class Way { solve, factor, copy, hand_over, rows, pieces, kMaxValue = pieces };

template <class T>
struct Solved {
  Matrix<T> X;
  Way way;
  Report report = {};
  Resolved by = {};
};

/// What is not so is printed, and ends the process.
template <class T>
class Judge {
 public:
  Judge(const System<T>& system, const Options& o, const Solved<T>& its) : system(system), o(o), its(its) {}

  void operator()() const {
    is_consistent();
    has_what_was_asked();
    for (std::int64_t j = 0; j < system.nrhs && !r.outcome.has_solution(); ++j)
      for (std::int64_t i = 0; i < system.n; ++i)
        require(std::isnan(its.X(i, j)), "no solution, but X is there", its.X(i, j));
    if (system.n == 0 || system.nrhs == 0) return;
    const bool looks = o.check && !o.allow_nonfinite;
    require(system.A_is_finite || !looks || r.outcome.kind == Outcome::unsuitable, "A is not finite, unseen");
    require(system.B_is_finite || !looks || in_place || !r.outcome.has_solution(), "B is not finite, unseen");
    if (r.outcome.has_solution()) is_as_good_as_said();
    if (!system.is_finite()) return;
    if (system.kind == Kind::singular && !o.assume_suitable && is_as_fine_as_A())
      require(!r.outcome.has_solution(), "a singular matrix has a solution");
    if (is_easy()) require(r.outcome.ok(), "an easy system is not solved");
  }

  void require(bool holds, const char* what, double is = 0, double other = 0) const {
    if (holds) return;
    std::fprintf(stderr, "%s: %g, %g\n%s, n = %ld, nrhs = %ld, kind %d, scale %d, symmetric %d, triangle %s, op %s\n",
                 what, is, other, name_of(precision_of<T>), long(system.n), long(system.nrhs), int(system.kind),
                 int(system.scale), system.is_symmetric, name_of(system.triangle), name_of(system.op));
    const auto* gemm = std::get_if<std::string>(&o.gemm);
    std::fprintf(stderr, "asked, way %d: %s %s %s %ld %s, %s in %s, refine %s %s, equilibrate %s, condition %s,",
                 int(its.way), gemm->c_str(), name_of(o.factorization), name_of(o.schedule), long(o.block_size),
                 name_of(o.pivoting), name_of(o.precision), name_of(o.storage), name_of(o.refine), name_of(o.residual),
                 name_of(o.equilibrate.kind), name_of(o.condition.kind));
    std::fprintf(stderr,
                 " accuracy %g, check %d, bounds %d, nonfinite %d, suitable %d, %zu cards, %ld bytes, tuned %d\n",
                 o.accuracy, o.check, o.bounds, o.allow_nonfinite, o.assume_suitable, o.cards.size(),
                 long(o.device_memory), o.tuning.has_value());
    std::fprintf(stderr, "got %s: %s %s, %s in %s, refine %s, hpl %g, rcond %g\n", r.outcome.name().c_str(),
                 name_of(r.method), name_of(r.schedule), name_of(r.precision), name_of(r.storage), name_of(r.refine),
                 r.hpl_residual.value_or(-1), r.rcond.value_or(-1));
    for (const std::string& note : r.notes) std::fprintf(stderr, "- %s\n", note.c_str());
    std::abort();
  }

 private:
  bool is_as_fine_as_A() const { return o.precision == Precision::automatic && o.storage == Precision::automatic; }
  /// That of the solution, which its check is by.
  double roundoff() const {
    return r.refine != Refine::none ? u : SolvePrecision{r.precision, r.storage, r.products}.unit_roundoff();
  }

  void is_consistent() const {
    require(r.n == system.n && r.nrhs == system.nrhs, "sizes of the report");
    require(!r.outcome.message().empty(), "an outcome without a sentence");
    require(!r.rcond || !r.outcome.ok() || (*r.rcond >= 0 && *r.rcond <= 1), "rcond");
    require(!r.forward_error_bound || *r.forward_error_bound < 1, "a bound of no digit");
    require(r.hpl_residual.has_value() == r.backward_error.has_value(), "one of hpl_residual and backward_error");
    if (r.hpl_residual && std::isfinite(*r.hpl_residual))
      require(std::abs(*r.hpl_residual * roundoff() * n - *r.backward_error) <= 1e-9 * *r.backward_error,
              "hpl_residual is of another", *r.hpl_residual, *r.backward_error);
    require(r.refine_iterations == 0 || r.refine != Refine::none, "refined, but not said");
    require(o.history || r.residual_history.empty(), "a history that nobody asked for");
    for (const auto& row : r.residual_history) require(std::int64_t(row.size()) == system.nrhs, "a history of others");
  }

  void has_what_was_asked() const {
    const auto is = [](auto asked, auto got) { return asked == decltype(asked)::automatic || asked == got; };
    require(is(o.factorization, r.method), "another method");
    require(is(o.schedule, r.schedule), "another schedule");
    require(o.refine != Refine::none || r.refine == Refine::none, "refined");
    require(o.equilibrate != Wanted::off || r.equilibration == Equilibration::none || system.scale != Scale::none,
            "equilibrated");
    require(o.block_size <= 0 || r.block_size <= o.block_size, "wider panels", double(r.block_size));
    require(o.check || !r.backward_error, "checked");
    require(!o.check || in_place || !r.outcome.has_solution() || r.backward_error, "not checked");
    require(o.condition != Condition::on || !r.outcome.ok() || r.rcond, "no condition");
    require(
        r.gemm == std::get<std::string>(o.gemm) || std::get<std::string>(o.gemm) == "auto" || its.by.taken->by_coarse,
        "another backend");
    const Executor by = its.by.taken->executor;
    const Problem problem{.n = system.n, .element = precision_of<T>, .handed_over = in_place};
    const bool several = o.cards.size() > 1, goes = goes_out_of_core(o, problem, double(o.device_memory));
    require(goes == (by == Executor::out_of_core), "out of core or not");
    require((several || (its.way == Way::pieces && !goes)) == (by == Executor::cards), "over cards or not");
    require(by != Executor::leaf || o.block_size == 0, "a leaf with panels");
    const std::size_t cards = several ? o.cards.size() : by == Executor::cards || goes;
    require(r.cards.size() == cards || !system.is_finite() || r.outcome.kind == Outcome::unsuitable, "other cards",
            double(r.cards.size()));
  }

  void is_as_good_as_said() const {
    const Operand<T> A(system.A.view(), system.op);
    const double error = test::hpl_residual<T>(A, system.B.view(), its.X.view()) * u * n,
                 measured = n * u;  // the report's own residual has roundings
    if (r.backward_error && std::isfinite(*r.backward_error))
      require(std::abs(error - *r.backward_error) <= measured + 1e-9 * error, "another backward error", error,
              *r.backward_error);
    if (!r.outcome.ok()) return;
    if (r.backward_error)
      require(error <= (o.accuracy > 0 ? o.accuracy : hpl_threshold * n * roundoff()) + measured, "inaccurate", error);
    double off = 0;
    for (std::int64_t j = 0; j < system.nrhs; ++j) {
      const auto x = its.X.view().columns(j, 1);
      const auto d = test::matrix_of<test::Wide<T>>(
          system.n, 1, [&](auto i, auto) { return test::Wide<T>(x(i, 0)) - test::Wide<T>(system.X(i, j)); });
      if (const auto most = test::infinity_norm(d); most != 0)
        off = test::larger(off, double(most / test::infinity_norm(x)));
    }
    if (r.forward_error_bound && has_known_solution())
      require(off <= *r.forward_error_bound, "further off than its bound", off, *r.forward_error_bound);
  }
  /// The only one. Of another matrix than A, where a triangle counts for all of it by a word that is not true, there is no bound.
  bool has_known_solution() const {
    return system.kind != Kind::low_rank && (system.is_symmetric || r.method != Method::cholesky);
  }

  /// Of which every method has to find the solution.
  bool is_easy() const {
    const bool may_stall = !o.check && r.outcome.kind == Outcome::not_converged;  // by the roundings of residuals
    return system.kind == Kind::dominant && !may_stall && (system.is_symmetric || r.method != Method::cholesky) &&
           (system.scale == Scale::none ||
            (system.scale != Scale::graded && is_as_fine_as_A() && o.check && !in_place)) &&
           (o.accuracy == 0 || o.accuracy > hpl_threshold * n * roundoff());
  }

  const System<T>& system;
  const Options& o;
  const Solved<T>& its;
  const Report& r = its.report;
  const bool in_place = its.way == Way::hand_over;
  const double u = test::unit_roundoff<T>, n = double(std::max<std::int64_t>(1, system.n));
};

}  // namespace lasolve::fuzz
