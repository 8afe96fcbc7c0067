#include "lasolve/report_fields.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "lasolve/names.hpp"

namespace lasolve {

namespace {

std::string outcome(const Report& r) { return r.outcome.name(); }
std::string message(const Report& r) { return r.outcome.message(); }
std::optional<std::int64_t> outcome_at(const Report& r) {
  if (r.outcome.has_solution() && r.outcome.kind != Outcome::not_converged) return {};
  return r.outcome.at;
}
std::optional<double> small_below(const Report& r) {
  if (r.products_of.empty()) return {};
  return r.small_below;
}
NumbersOfPhases of_phases(const std::array<double, phase_count>& values) {
  NumbersOfPhases all;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (values[p] > 0) all.emplace_back(name_of(Phase(p)), values[p]);
  return all;
}
NumbersOfPhases phase_seconds(const Report& r) { return of_phases(r.phases.seconds); }
NumbersOfPhases phase_flops(const Report& r) { return of_phases(r.phases.flops); }

// The kind of what a getter returns.
template <class T>
constexpr const char* kind = std::is_integral_v<T> ? "count" : "word";
template <class T>
constexpr const char* kind<std::optional<T>> = kind<T>;
template <>
constexpr const char* kind<double> = "number";
template <>
constexpr const char* kind<std::vector<std::string>> = "words";
template <>
constexpr const char* kind<std::vector<double>> = "numbers";
template <>
constexpr const char* kind<NumbersOfPhases> = "by phase";
template <>
constexpr const char* kind<std::vector<ProductsOf>> = "products";

template <class T>
FieldValue told(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return name_of(value);
  else if constexpr (std::is_integral_v<T>)
    return std::int64_t(value);
  else
    return value;
}
template <class T>
FieldValue told(const std::optional<T>& value) {
  return value ? told(*value) : FieldValue();
}

/// `get`: a member of Report, or a function of one.
template <auto get>
constexpr ReportField field(const char* name, const char* unit, const char* meaning) {
  using Held = std::remove_cvref_t<std::invoke_result_t<decltype(get), const Report&>>;
  return {name, unit, kind<Held>, meaning, [](const Report& r) { return told(std::invoke(get, r)); }};
}

constexpr ReportField fields[] = {
    field<outcome>(
        "outcome", "",
        "solved, singular, not_positive_definite, not_converged, inaccurate, ill_conditioned, not_symmetric"),
    field<outcome_at>("outcome_at", "",
                      "singular: the column of the zero pivot, from 0; not_positive_definite: the order of the leading "
                      "minor; not_converged: the iterations"),
    field<message>("message", "", "the outcome in a sentence"),
    field<&Report::n>("n", "", "the order of A"),
    field<&Report::nrhs>("nrhs", "", "the columns of B"),
    field<&Report::device>("device", "", "cpu, or cuda:INDEX"),
    field<&Report::gemm>("gemm", "", "the backend that made the updates"),
    field<small_below>("small_below_flops", "flop",
                       "below how many operations a product is another backend's; null: one makes all"),
    field<&Report::products_of>("products_of", "", "with two backends: the calls and the operations of each"),
    field<&Report::method>("factorization", "", "lu or cholesky"),
    field<&Report::precision>("precision", "", "in which the system was solved"),
    field<&Report::storage>("storage", "", "what the factors are stored in"),
    field<&Report::products>("products", "", "what products are computed in"),
    field<&Report::residual>("residual", "", "what residuals are computed in"),
    field<&Report::refine>("refine", "", "none or classical"),
    field<&Report::schedule>("schedule", "", "the order of the steps"),
    field<&Report::block_size>("block_size", "", "columns of a panel at most"),
    field<&Report::threads>("threads", "", "of the host, that shared the factorization"),
    field<phase_seconds>("phases", "s", "busy seconds of each phase; on CUDA phases overlap"),
    field<phase_flops>("phase_flops", "flop", "floating-point operations of each phase"),
    field<&Report::factor_seconds>("factor_seconds", "s", "wall time of the factorization"),
    field<&Report::solve_seconds>("solve_seconds", "s", "wall time of the triangular solves"),
    field<&Report::total_seconds>(
        "total_seconds", "s", "wall time of the whole solve, with copies and refinement, without reading and checking"),
    field<&Report::factor_gflops>("factor_gflops", "GFLOP/s",
                                  "10^9 operations a second: 2/3 n^3 (LU) or 1/3 n^3 (Cholesky) over factor_seconds"),
    field<&Report::backward_error>("backward_error", "",
                                   "max over columns of |b - A x| / (|A| |x| + |b|), infinity norms"),
    field<&Report::hpl_residual>("hpl_residual", "", "that over n times the roundoff; passes below 16"),
    field<&Report::forward_error>("forward_error", "",
                                  "|x - x*| / |x*|, largest entries, where the true answer x* is known"),
    field<&Report::rcond>("rcond", "", "an estimate of 1 / (|A| |A^-1|), 1-norm"),
    field<&Report::rcond_of_scaled_rows>("rcond_of_scaled_rows", "",
                                         "the same with rows scaled, where only their sizes make rcond small"),
    field<&Report::rcond_of_scaled_columns>("rcond_of_scaled_columns", "", "the same with columns scaled, too"),
    field<&Report::digits>("digits", "",
                           "of the solution that may be trusted, about; null where the solution is not accurate"),
    field<&Report::growth>(
        "growth", "", "max|U| / max|A| of an LU, where a solution failed its check, if only before it was refined"),
    field<&Report::refine_iterations>("refine_iterations", "", "updates of the refinement"),
    field<&Report::refinement_residuals>("refinement_residuals", "",
                                         "|B - A X| / (|A| |X|) before the first update, and after each"),
    field<&Report::notes>("notes", "", "what a person should know: fallbacks, substitutions"),
};

}  // namespace

inline namespace LASOLVE_ABI {

std::span<const ReportField> report_fields() { return fields; }

const ReportField& report_field(std::string_view name) {
  const auto found = std::find_if(std::begin(fields), std::end(fields), [=](auto& f) { return f.name == name; });
  require(found != std::end(fields), "a report has no such field");
  return *found;
}

}  // namespace LASOLVE_ABI

}  // namespace lasolve
