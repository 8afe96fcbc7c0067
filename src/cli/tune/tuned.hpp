// What `lasolve tune` has kept: for which machine, taken for a solve, and listed.
#pragma once

#include "cli/problem.hpp"
#include "tuned/kept.hpp"

namespace lasolve::cli {

/// "packed, right-looking, panels of at most 192 columns".
std::string in_words(const tuned::Setting&);
/// " and packed below 2 Mflop", where it has a backend for small products; else empty.
std::string for_small(const tuned::Setting&);

/// This machine, where a system is solved on a device. `threads`: as Options has them.
tuned::Machine machine_of(const Device& device, int threads);

/// Where a request leaves backend, schedule and block size open: takes what is kept for such a system, if there is something. Returns
/// what a person should know about that.
std::vector<std::string> take_tuned(Request&, const Problem&);

/// For `lasolve list --tuned`.
std::string list_of_tuned(const Request&);
std::string tuned_as_json();

}  // namespace lasolve::cli
