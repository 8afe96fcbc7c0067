// The sizes that decide between ways to compute: what is asked for, and what there are. And what `lasolve tune` has kept: for which machine,
// taken for a solve, and listed.
#pragma once

#include "cli/problem.hpp"
#include "cli/request.hpp"
#include "tuned/kept.hpp"

namespace lasolve::cli {

/// Of the text NAME=VALUE. Throws UsageError, for an unknown name with those that are known.
TuningChange tuning_change(const std::string& text);

/// What --tune makes of the tuning of the device that the options mean; none where it is not given. Throws UsageError for a value
/// that the device does not have, or with which nothing works.
std::optional<Tuning> tuning_asked_for(const Request&, const Options&);

std::string list_of_tuning(const Request&);
std::string tuning_as_json(const Request&);

/// "packed, right-looking, panels of at most 192 columns".
std::string in_words(const tuned::Setting&);
/// " and packed below 2 Mflop", where it has a backend for small products; else empty.
std::string for_small(const tuned::Setting&);

/// ", factors in fp32", where their precision was chosen; else empty.
std::string of_factors(const tuned::Setting&);

/// This machine, where a system is solved on a device. `threads`: as Options has them.
tuned::Machine machine_of(const Device& device, int threads);

/// Where a request leaves backend, schedule and block size open: takes what is kept for such a system, if there is something. Returns
/// what a person should know about that.
std::vector<std::string> take_tuned(Request&, const Problem&);

/// For `lasolve list --tuned`.
std::string list_of_tuned(const Request&);
std::string tuned_as_json();

}  // namespace lasolve::cli
