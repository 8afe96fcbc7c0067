#include "c/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "c/status.hpp"
#include "lasolve/report_fields.hpp"

namespace lasolve::from_c {

namespace {

constexpr ReportMember members[] = {
    {"outcome", &lasolve_report::outcome},
    {"message", &lasolve_report::message},
    {"outcome_at", &lasolve_report::at},
    {"n", &lasolve_report::n},
    {"nrhs", &lasolve_report::nrhs},
    {"device", &lasolve_report::device},
    {"gemm", &lasolve_report::gemm},
    {"factorization", &lasolve_report::method},
    {"precision", &lasolve_report::precision},
    {"schedule", &lasolve_report::schedule},
    {"block_size", &lasolve_report::block_size},
    {"factor_seconds", &lasolve_report::factor_seconds},
    {"solve_seconds", &lasolve_report::solve_seconds},
    {"total_seconds", &lasolve_report::total_seconds},
    {"backward_error", &lasolve_report::backward_error},
    {"hpl_residual", &lasolve_report::hpl_residual},
    {"rcond", &lasolve_report::rcond},
    {"digits", &lasolve_report::digits},
    {"refine_iterations", &lasolve_report::refine_iterations},
    {"notes", &lasolve_report::notes},
};

/// The member with index `at`.
void set(const char*& to, const FieldValue& from, std::size_t at) {
  const auto* const word = std::get_if<std::string>(&from);
  const auto* const lines = std::get_if<std::vector<std::string>>(&from);
  if (!word && !lines) return void(to = "");
  std::vector<std::string>& words = said().words;
  words.resize(std::size(members));
  words[at] = word ? *word : "";
  for (const std::string& line : lines ? *lines : std::vector<std::string>())
    words[at] += (words[at].empty() ? "" : "\n") + line;
  to = words[at].c_str();
}
void set(double& to, const FieldValue& from, std::size_t) {
  const double* const number = std::get_if<double>(&from);
  to = number ? *number : std::nan("");
}
template <class Count>
void set(Count& to, const FieldValue& from, std::size_t) {
  const std::int64_t* const count = std::get_if<std::int64_t>(&from);
  to = count ? Count(*count) : 0;
}

}  // namespace

std::span<const ReportMember> report_members() { return members; }

void fill(lasolve_report* to, const Report* from) {
  if (!to) return;
  static const auto fields = [] {
    std::array<const ReportField*, std::size(members)> found{};
    std::transform(std::begin(members), std::end(members), found.begin(),
                   [](auto& m) { return &report_field(m.field); });
    return found;
  }();
  lasolve_report all{};
  for (std::size_t i = 0; i < std::size(members); ++i) {
    const FieldValue value = from ? fields[i]->of(*from) : FieldValue();
    std::visit([&](auto member) { set(all.*member, value, i); }, members[i].member);
  }
  if (!from) all.message = lasolve_last_error();
  all.size = to->size;
  std::memcpy(to, &all, std::min(to->size, sizeof all));
}

}  // namespace lasolve::from_c
