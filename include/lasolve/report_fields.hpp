// What a report has, field by field: one table for the tool, JSON, C, the documentation and bindings to other languages.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <span>
#include <string_view>
#include <utility>

#include "lasolve/lasolve.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Those of the phases that have any.
using NumbersOfPhases = std::vector<std::pair<const char*, double>>;
/// What a field holds; monostate: it is not known, or there is none.
using FieldValue =
    std::variant<std::monostate, std::string, std::int64_t, double, std::vector<std::string>, std::vector<double>,
                 NumbersOfPhases, std::vector<ProductsOf>, std::vector<std::vector<double>>>;

struct ReportField {
  const char* name;
  const char*
      unit;  ///< "s", "flop", "GFLOP/s"; what has none is a "word", a "count", a "number", "words", "numbers", a "list" or a "table"
  const char* meaning;
  FieldValue (*of)(const Report&);

  /// Whether it differs from run to run: a time, or a rate.
  bool is_timed() const { return std::string_view(unit) == "s" || std::string_view(unit) == "GFLOP/s"; }
};

/// All of them: each member of Report is told by one or more.
std::span<const ReportField> report_fields();
/// That of a name, which has to be one.
const ReportField& report_field(std::string_view name);

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
