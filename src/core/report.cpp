#include <fmt/format.h>

#include <functional>

#include "core/range.hpp"
#include "lasolve/names.hpp"
#include "lasolve/report_fields.hpp"

namespace lasolve {

std::string Outcome::name() const { return name_of(kind); }

std::string Outcome::message() const {
  switch (kind) {
    case solved:
      return "solved";
    case singular:
      return fmt::format("the matrix is singular: {} {} (counted from 0) has no pivot other than zero",
                         of_rows ? "row" : "column", at);
    case not_positive_definite:
      return fmt::format("the matrix is not positive definite: the leading minor of order {} is not positive", at);
    case not_converged:
      return fmt::format("the refinement did not converge; it was given up after {} updates", at);
    case inaccurate:
      return "the residual is larger than the HPL check allows";
    case ill_conditioned:
      return "the residual is small, but the matrix is singular to the precision: no digit of the solution can be "
             "trusted";
    case not_symmetric:
      return "the matrix is not symmetric, and Cholesky solves with one of its triangles only";
    case unsuitable:
      return "the matrix is not diagonally dominant, neither by rows nor by columns, as the method requires: take lu, "
             "or assume it (--assume-suitable)";
    case accuracy_not_reached:
      return "the backward error of the solution is larger than was asked for";
  }
  return "unknown";
}

namespace {

std::string outcome(const Report& r) { return r.outcome.name(); }
std::string message(const Report& r) { return r.outcome.message(); }
std::optional<std::int64_t> outcome_at(const Report& r) {
  const Outcome::Kind kind = r.outcome.kind;
  if (kind != Outcome::singular && kind != Outcome::not_positive_definite && kind != Outcome::not_converged) return {};
  return r.outcome.at;
}
std::optional<double> small_below(const Report& r) {
  if (r.products_of.empty()) return {};
  return r.small_below;
}
/// A name of its own for what no storage has.
std::string residual(const Report& r) {
  if (!r.extra_residuals) return name_of(r.residual);
  return r.residual == Precision::fp32 ? name_of(Precision::fp64) : "double-double";
}
NumbersOfPhases of_phases(const std::array<double, phase_count>& values) {
  NumbersOfPhases all;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (values[p] > 0) all.emplace_back(name_of(Phase(p)), values[p]);
  return all;
}
std::vector<std::vector<double>> what_cards_did(const Report& r) {
  std::vector<std::vector<double>> rows;
  for (const CardReport& card : r.cards) {
    rows.push_back({double(card.columns), card.bytes, card.received_bytes});
    for (const Phase p : {Phase::panel, Phase::swap, Phase::trsm, Phase::gemm})
      rows.back().push_back(card.phases.seconds_of(p));
  }
  return rows;
}
NumbersOfPhases phase_seconds(const Report& r) { return of_phases(r.phases.seconds); }
NumbersOfPhases phase_flops(const Report& r) { return of_phases(r.phases.flops); }

template <class T>
FieldValue value_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return name_of(value);
  else if constexpr (std::is_integral_v<T>)
    return std::int64_t(value);
  else if constexpr (requires { value.has_value(); })
    return value ? value_of(*value) : FieldValue();
  else
    return value;
}
/// `get`: a member of Report, or a function of one.
template <auto get>
FieldValue of(const Report& r) {
  return value_of(std::invoke(get, r));
}

#define LASOLVE_MEMBER(name, unit, meaning) \
  { #name, unit, meaning, of < &Report::name> }
constexpr ReportField all_fields[] = {
    {"outcome", "word",
     "solved, singular, not_positive_definite, not_converged, inaccurate, ill_conditioned, not_symmetric, unsuitable, "
     "accuracy_not_reached",
     of<outcome>},
    {"outcome_at", "count",
     "singular: the column of the zero pivot, from 0; not_positive_definite: the order of the leading minor; "
     "not_converged: the iterations",
     of<outcome_at>},
    {"message", "word", "the outcome in a sentence", of<message>},
    LASOLVE_MEMBER(n, "count", "the order of A"),
    LASOLVE_MEMBER(nrhs, "count", "the columns of B"),
    LASOLVE_MEMBER(device, "word", "cpu, or cuda:INDEX, or several of one kind: cuda:0,1"),
    {"cards", "table",
     "a row for each of several cards: its columns of A, bytes that it holds, bytes of panels that it received, and "
     "busy seconds of panels, swaps, solves and products",
     of<what_cards_did>},
    LASOLVE_MEMBER(gemm, "word", "the backend that made the updates"),
    {"small_below_flops", "flop", "below how many operations a product is another backend's; null: one makes all",
     of<small_below>},
    LASOLVE_MEMBER(products_of, "list", "with two backends: the calls and the operations of each"),
    {"factorization", "word", "lu, cholesky or lu-nopivot", of<&Report::method>},
    LASOLVE_MEMBER(pivoting, "word", "none, partial or tournament"),
    LASOLVE_MEMBER(precision, "word", "in which the system was solved"),
    LASOLVE_MEMBER(storage, "word", "what the factors are stored in"),
    LASOLVE_MEMBER(products, "word", "what products are computed in"),
    {"residual", "word", "what residuals of the refinement are computed in", of<residual>},
    LASOLVE_MEMBER(equilibration, "word", "what of A was scaled by powers of two: none, rows, columns, both"),
    LASOLVE_MEMBER(refine, "word", "none, classical or gmres"),
    LASOLVE_MEMBER(schedule, "word", "the order of the steps"),
    LASOLVE_MEMBER(block_size, "count", "columns of a panel at most"),
    LASOLVE_MEMBER(threads, "count", "of the host, that shared the factorization"),
    {"phases", "s", "busy seconds of each phase; on CUDA phases overlap", of<phase_seconds>},
    {"phase_flops", "flop", "floating-point operations of each phase", of<phase_flops>},
    LASOLVE_MEMBER(factor_seconds, "s", "wall time of the factorization"),
    LASOLVE_MEMBER(solve_seconds, "s", "wall time of the triangular solves"),
    LASOLVE_MEMBER(total_seconds, "s",
                   "wall time of the whole solve, with copies and refinement, without reading and checking"),
    LASOLVE_MEMBER(factor_gflops, "GFLOP/s",
                   "10^9 operations a second: 2/3 n^3 (LU) or 1/3 n^3 (Cholesky) over factor_seconds"),
    LASOLVE_MEMBER(backward_error, "number", "max over columns of |b - A x| / (|A| |x| + |b|), infinity norms"),
    LASOLVE_MEMBER(hpl_residual, "number", "that over n times the roundoff; passes below 16"),
    LASOLVE_MEMBER(forward_error, "number", "|x - x*| / |x*|, largest entries, where the true answer x* is known"),
    LASOLVE_MEMBER(rcond, "number", "an estimate of 1 / (|A| |A^-1|), 1-norm"),
    LASOLVE_MEMBER(rcond_of_scaled_rows, "number",
                   "the same with rows scaled, where only their sizes make rcond small"),
    LASOLVE_MEMBER(rcond_of_scaled_columns, "number", "the same with columns scaled, too"),
    LASOLVE_MEMBER(digits, "number",
                   "of the solution that may be trusted, about; null where the solution is not accurate"),
    LASOLVE_MEMBER(growth, "number",
                   "max|U| / max|A| of an LU, with error bounds, with tournament pivoting, or where a solution failed "
                   "its check, if only before it was refined"),
    LASOLVE_MEMBER(
        norm_growth, "number",
        "of the same, infinity norm of |L||U| over that of A: a backward error is at most some 3 n u times this"),
    LASOLVE_MEMBER(largest_multiplier, "number", "max|L| of the same"),
    LASOLVE_MEMBER(
        forward_error_bound, "number",
        "of |x - x'| / |x'| for the worst right-hand side; null where it was not asked for, or no digit is certain"),
    LASOLVE_MEMBER(componentwise_backward_error, "number",
                   "max of |b - A x'| over |A||x'| + |b|, element by element; of at most four right-hand sides"),
    LASOLVE_MEMBER(refine_iterations, "count", "updates of the refinement"),
    LASOLVE_MEMBER(gmres_steps, "count", "products with A within these by GMRES, of the right-hand side with most"),
    LASOLVE_MEMBER(refinement_residuals, "numbers", "|B - A X| / (|A| |X|) before the first update, and after each"),
    LASOLVE_MEMBER(residual_history, "table",
                   "the same of each right-hand side: a row for each of these; empty unless it was asked for"),
    LASOLVE_MEMBER(notes, "words", "what a person should know: fallbacks, substitutions"),
};

}  // namespace

inline namespace LASOLVE_ABI {

Report combined(const Report& factored, Report solved) {
  solved.phases += factored.phases;
  solved.total_seconds += factored.total_seconds;
  return solved;
}

std::span<const ReportField> report_fields() { return all_fields; }

const ReportField& report_field(std::string_view name) {
  const auto* const found = find_in(all_fields, [=](auto& f) { return f.name == name; });
  require(found, "a report has no such field");
  return *found;
}

}  // namespace LASOLVE_ABI

}  // namespace lasolve
