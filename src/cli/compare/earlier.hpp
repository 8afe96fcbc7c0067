// A comparison that was measured before.
#pragma once

#include <optional>
#include <string>

#include "cli/json.hpp"
#include "compare/row.hpp"

namespace lasolve::cli {

struct Earlier {
  compare::Comparison comparison;
  Json environment;
};

/// Of a file that --json wrote. Throws io::InputError.
Earlier earlier(const std::string& path);
/// The same; nothing where there is no such file.
std::optional<Earlier> earlier_if_any(const std::string& path);

/// What differs of two environments, such as "processor: A then, B now"; empty: nothing that bears on speed.
std::string difference(const Json& a, const Json& b);

}  // namespace lasolve::cli
