// The table of a report's fields: whatever a report has is told by it, to the tool, to JSON and to C.
#include <gtest/gtest.h>

#include <set>

#include "c/report.hpp"
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

/// The members of `members` that are those of `report` with this address.
template <class T>
int count_of(const lasolve_report& report, const T& member) {
  int count = 0;
  for (const auto& [field, its] : from_c::report_members())
    if (const auto* const same = std::get_if<T lasolve_report::*>(&its)) count += &(report.**same) == &member;
  return count;
}

TEST(ReportFields, fill_each_member_of_the_report_of_C) {
  const lasolve_report report = LASOLVE_REPORT_INIT;
  const auto& [size, outcome, message, at, n, nrhs, device, gemm, method, precision, schedule, block_size,
               factor_seconds, solve_seconds, total_seconds, backward_error, hpl_residual, rcond, digits,
               refine_iterations, notes] = report;
  std::size_t members = 0;
  const auto has_one = [&](const auto& member) {
    EXPECT_EQ(count_of(report, member), 1) << "member " << members;
    ++members;
  };
  const auto each = [&](const auto&... member) { (has_one(member), ...); };
  each(outcome, message, at, n, nrhs, device, gemm, method, precision, schedule, block_size, factor_seconds,
       solve_seconds, total_seconds, backward_error, hpl_residual, rcond, digits, refine_iterations, notes);
  EXPECT_EQ(from_c::report_members().size(), members);
  for (const auto& [field, its] : from_c::report_members()) {
    const std::string kind = report_field(field).kind;
    EXPECT_EQ(std::holds_alternative<double lasolve_report::*>(its), kind == "number") << field;
    EXPECT_EQ(std::holds_alternative<const char * lasolve_report::*>(its), kind.starts_with("word")) << field;
  }
}

}  // namespace
}  // namespace lasolve::test
