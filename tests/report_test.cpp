// The table of a report's fields: whatever a report has is told by it, to the tool, to JSON and to C.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "lasolve/lasolve.h"
#include "lasolve/names.hpp"
#include "lasolve/report_fields.hpp"

namespace lasolve::test::report_test {
namespace {

/// f(each member); does not compile where a report has others.
template <class F>
void for_each_member(Report& r, F f) {
  auto& [outcome, n, nrhs, device, gemm, cards, products_of, small_below, method, pivoting, precision, storage,
         products, residual, extra_residuals, equilibration, refine, schedule, block_size, threads, phases,
         factor_seconds, solve_seconds, total_seconds, factor_gflops, backward_error, hpl_residual, forward_error,
         rcond, rcond_of_scaled_rows, rcond_of_scaled_columns, digits, growth, norm_growth, largest_multiplier,
         forward_error_bound, componentwise_backward_error, refine_iterations, gmres_steps, refinement_residuals,
         residual_history, notes] = r;
  const auto each = [&](auto&... member) { (f(member), ...); };
  each(outcome, n, nrhs, device, gemm, cards, products_of, small_below, method, pivoting, precision, storage, products,
       residual, extra_residuals, equilibration, refine, schedule, block_size, threads, phases, factor_seconds,
       solve_seconds, total_seconds, factor_gflops, backward_error, hpl_residual, forward_error, rcond,
       rcond_of_scaled_rows, rcond_of_scaled_columns, digits, growth, norm_growth, largest_multiplier,
       forward_error_bound, componentwise_backward_error, refine_iterations, gmres_steps, refinement_residuals,
       residual_history, notes);
}

void change(Outcome& outcome) { outcome = {Outcome::singular, 3}; }
void change(std::string& word) { word += "x"; }
void change(std::optional<double>& number) { number = 0.5; }
void change(std::vector<ProductsOf>& products) { products.push_back({"other", {}}); }
void change(PhaseTimes& times) { times.seconds_of(Phase::panel) = 1, times.flops[std::size_t(Phase::panel)] = 2; }
template <class T>
void change(std::vector<T>& list) {
  list.push_back({});
}
template <class T>
void change(T& value) {
  value = T(int(value) + 1);
}

/// As it can be compared.
std::string told(const FieldValue& value) {
  return std::visit(
      []<class T>(const T& its) {
        if constexpr (std::is_same_v<T, std::monostate>)
          return std::string("not known");
        else if constexpr (std::is_same_v<T, std::string>)
          return its;
        else if constexpr (std::is_arithmetic_v<T>)
          return std::to_string(its);
        else
          return std::to_string(its.size()) + " of them";
      },
      value);
}

Report with_two_backends() {
  Report report;
  report.products_of.resize(1);  // else no product is small
  return report;
}

/// Which fields tell the member with this index.
std::multiset<std::string> fields_of_member(int wanted) {
  const Report before = with_two_backends();
  Report after = before;
  int index = 0;
  for_each_member(after, [&](auto& member) {
    if (index++ == wanted) change(member);
  });
  std::multiset<std::string> names;
  for (const ReportField& field : report_fields())
    if (told(field.of(before)) != told(field.of(after))) names.insert(field.name);
  return names;
}

TEST(ReportFields, tell_each_member_once) {
  int members = 0;
  Report report;
  for_each_member(report, [&](auto&) { ++members; });
  std::multiset<std::string> all;
  for (int i = 0; i < members; ++i) {
    const auto names = fields_of_member(i);
    EXPECT_EQ(names.size(), i == 0 ? 3u : names.count("phases") ? 2u : 1u) << "member " << i << " of Report";
    all.insert(names.begin(), names.end());
  }
  const std::set<std::string> different(all.begin(), all.end());  // what residuals are computed in has two members
  EXPECT_EQ(different.size(), report_fields().size()) << "some field tells no member";
}

TEST(ReportFields, have_names_of_their_own) {
  std::set<std::string> names;
  for (const ReportField& field : report_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_EQ(&report_field(field.name), &field);
    EXPECT_NE(std::string(field.meaning), "") << field.name;
  }
  EXPECT_THROW(report_field("no such"), std::invalid_argument);
}

TEST(ReportFields, hold_nothing_where_nothing_is_known) {
  for (const char* name : {"backward_error", "rcond", "digits", "growth", "outcome_at", "small_below_flops"})
    EXPECT_EQ(told(report_field(name).of({})), "not known") << name;
}

TEST(ReportFields, are_times_by_their_units) {
  EXPECT_TRUE(report_field("factor_seconds").is_timed() && report_field("factor_gflops").is_timed());
  EXPECT_FALSE(report_field("phase_flops").is_timed() || report_field("rcond").is_timed());
}

/// A member of the report of C holds what a field does; "", 0 or NaN where that holds nothing.
void expect_same(const Report& report, const char* field, const char* member) {
  const FieldValue value = report_field(field).of(report);
  std::string words;
  if (const auto* const lines = std::get_if<std::vector<std::string>>(&value))
    for (const std::string& line : *lines) words += (words.empty() ? "" : "\n") + line;
  else
    words = std::get<std::string>(value);
  EXPECT_STREQ(member, words.c_str()) << field;
}
template <class Number>
void expect_same(const Report& report, const char* field, Number member) {
  const FieldValue value = report_field(field).of(report);
  constexpr bool is_count = std::is_integral_v<Number>;
  using Held = std::conditional_t<is_count, std::int64_t, double>;
  if (std::holds_alternative<std::monostate>(value))
    EXPECT_TRUE(is_count ? member == 0 : std::isnan(double(member))) << field;
  else if (report_field(field).is_timed())
    EXPECT_EQ(member > 0, std::get<Held>(value) > 0) << field;
  else
    EXPECT_EQ(member, Number(std::get<Held>(value))) << field;
}

struct System {
  std::vector<double> A, b;
};
/// With every member; does not compile where the report of C has others.
void expect_same_from_c(const System& system, bool condition, const char* precision) {
  SCOPED_TRACE(precision);
  const std::int64_t n = std::int64_t(system.b.size());
  std::vector<double> x(system.b.size());
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  options.device = "cpu", options.precision = precision, options.condition = condition ? 1 : -1;
  lasolve_report told = LASOLVE_REPORT_INIT;
  lasolve_dsolve(n, 1, system.A.data(), n, system.b.data(), n, x.data(), n, &options, &told);
  const auto& [size, outcome, message, at, order, nrhs, device, gemm, method, its_precision, schedule, block_size,
               factor_seconds, solve_seconds, total_seconds, backward_error, hpl_residual, rcond, digits,
               refine_iterations, notes, gmres_steps, forward_error_bound, componentwise_backward_error, equilibration,
               pivoting, growth, largest_multiplier, norm_growth, history, history_rows, history_columns] = told;
  const Report r = solve(column_major(system.A, n, n), system.b, x,
                         {.device = {Device::cpu}, .precision = *parse<Precision>(precision), .condition = condition});
  const auto same = [&](const char* field, const auto& member) { expect_same(r, field, member); };
  same("outcome", outcome), same("message", message), same("outcome_at", at), same("n", order), same("nrhs", nrhs);
  same("device", device), same("gemm", gemm), same("factorization", method), same("precision", its_precision);
  same("schedule", schedule), same("block_size", block_size), same("factor_seconds", factor_seconds);
  same("solve_seconds", solve_seconds), same("total_seconds", total_seconds), same("backward_error", backward_error);
  same("hpl_residual", hpl_residual), same("rcond", rcond), same("digits", digits);
  same("refine_iterations", refine_iterations), same("notes", notes);
  same("gmres_steps", gmres_steps), same("forward_error_bound", forward_error_bound);
  same("componentwise_backward_error", componentwise_backward_error), same("equilibration", equilibration);
  same("pivoting", pivoting), same("growth", growth), same("largest_multiplier", largest_multiplier);
  same("norm_growth", norm_growth);
  EXPECT_TRUE(!history && history_rows == 0 && history_columns == 0) << "nobody asked for it";
}

TEST(ReportFields, are_what_the_report_of_C_holds) {
  for (const char* precision : {"fp64", "fp32"}) {
    expect_same_from_c({{2, 1, 1, 3}, {3, 5}}, true, precision);
    expect_same_from_c({{1, 2, 2, 1}, {3, 5}}, false, precision);  // of which a note says that it is no Cholesky's
    expect_same_from_c({{1, 0, 0, 0}, {3, 5}}, false, precision);  // singular
    expect_same_from_c({{1e-17, 1, 1, 1}, {3, 5}}, true, precision);
  }
}

}  // namespace
}  // namespace lasolve::test::report_test
