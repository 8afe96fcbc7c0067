// The table of a report's fields: whatever a report has is told by it, to the tool, to JSON and to C.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lasolve/lasolve.h"
#include "lasolve/report_fields.hpp"

namespace lasolve::test {
namespace {

/// f(each member); does not compile where a report has others.
template <class F>
void for_each_member(Report& r, F f) {
  auto& [outcome, n, nrhs, device, gemm, products_of, small_below, method, precision, storage, products, residual,
         refine, schedule, block_size, threads, phases, factor_seconds, solve_seconds, total_seconds, factor_gflops,
         backward_error, hpl_residual, forward_error, rcond, rcond_of_scaled_rows, rcond_of_scaled_columns, digits,
         growth, refine_iterations, refinement_residuals, notes] = r;
  const auto each = [&](auto&... member) { (f(member), ...); };
  each(outcome, n, nrhs, device, gemm, products_of, small_below, method, precision, storage, products, residual, refine,
       schedule, block_size, threads, phases, factor_seconds, solve_seconds, total_seconds, factor_gflops,
       backward_error, hpl_residual, forward_error, rcond, rcond_of_scaled_rows, rcond_of_scaled_columns, digits,
       growth, refine_iterations, refinement_residuals, notes);
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
  EXPECT_EQ(all.size(), report_fields().size()) << "some field tells no member";
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

template <class... T>
void expect_all_words_and_numbers(const T&... members) {
  int index = 0;
  const auto expect_there = [&]<class Member>(const Member& member) {
    if constexpr (std::is_same_v<Member, const char*>)
      EXPECT_NE(member, nullptr) << "member " << index;
    else
      EXPECT_NE(member, 0) << "member " << index;
    ++index;
  };
  (expect_there(members), ...);
}

TEST(ReportFields, fill_each_member_of_the_report_of_C) {
  // fp32 factors of the first are refined, a column of the second is zero, and the last is misuse, of which no number is known.
  const double regular[] = {2, 1, 1, 3}, singular[] = {1, 0, 0, 0}, b[] = {3, 5};
  double x[2];
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  options.device = "cpu", options.precision = "fp32";
  lasolve_report solved = LASOLVE_REPORT_INIT, failed = LASOLVE_REPORT_INIT, misused = LASOLVE_REPORT_INIT;
  ASSERT_EQ(lasolve_dsolve(2, 1, regular, 2, b, 2, x, 2, &options, &solved), LASOLVE_OK);
  ASSERT_EQ(lasolve_dsolve(2, 1, singular, 2, b, 2, x, 2, &options, &failed), LASOLVE_NO_SOLUTION);
  ASSERT_EQ(lasolve_dsolve(-1, 1, regular, 2, b, 2, x, 2, &options, &misused), LASOLVE_MISUSE);
  const auto& [size, outcome, message, at, n, nrhs, device, gemm, method, precision, schedule, block_size,
               factor_seconds, solve_seconds, total_seconds, backward_error, hpl_residual, rcond, digits,
               refine_iterations, notes] = misused;
  expect_all_words_and_numbers(outcome, message, failed.at, solved.n, solved.nrhs, device, gemm, method, precision,
                               schedule, solved.block_size, factor_seconds, solve_seconds, total_seconds,
                               backward_error, hpl_residual, rcond, digits, solved.refine_iterations, notes);
}

}  // namespace
}  // namespace lasolve::test
