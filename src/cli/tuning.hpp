// The sizes that decide between ways to compute: what is asked for, and what there are.
#pragma once

#include "cli/request.hpp"

namespace lasolve::cli {

/// Of the text NAME=VALUE. Throws UsageError, for an unknown name with those that are known.
TuningChange tuning_change(const std::string& text);

/// What --tune makes of the tuning of the device that the options mean; none where it is not given. Throws UsageError for a value
/// that the device does not have, or with which nothing works.
std::optional<Tuning> tuning_asked_for(const Request&, const Options&);

std::string list_of_tuning(const Request&);
std::string tuning_as_json(const Request&);

}  // namespace lasolve::cli
