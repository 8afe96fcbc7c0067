// The report of the C interface: which field of a report each of its members holds.
#pragma once

#include <span>
#include <variant>

#include "lasolve/lasolve.h"
#include "lasolve/lasolve.hpp"

namespace lasolve::from_c {

struct ReportMember {
  const char* field;
  std::variant<const char * lasolve_report::*, double lasolve_report::*, lasolve_int lasolve_report::*,
               int lasolve_report::*>
      member;
};
/// Of all members but the size.
std::span<const ReportMember> report_members();

/// Fills as much of `to` as the caller's program knows. Of a call without a report, there is a message alone: the last error.
void fill(lasolve_report* to, const Report*);

}  // namespace lasolve::from_c
