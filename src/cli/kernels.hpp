// What --gemm names: backends of the box, and kernels of somebody's own, which are loaded from files.
#pragma once

#include <string>
#include <vector>

#include "bench/verify.hpp"
#include "cli/json.hpp"
#include "lasolve/lasolve.hpp"
#include "plugin/kernels.hpp"

namespace lasolve::cli {

using plugin::device_for;
using plugin::is_plugin;
using plugin::kernels_left_out;

/// The names of a list, of which "all" stands alone: see plugin::backends_named(). Says on standard error which files are left out.
std::vector<std::string> backends_named(const std::string& list, int patience, Device asked);

/// The exit code of a command that did all but what it had to leave out.
int code_of_what_is_left_out();

/// Of each kernel that was loaded: its file with a hash; of a source the compiler, its command, and a hash of what it made.
Json plugin_kernels();

/// Says on standard error what is wrong with a kernel, and what an own one may declare then, in a few lines.
void say_what_is_wrong(const Choice&, const bench::Fault&);

/// Those of some backends that are not own ones, or that are right in all precisions in which a solve of order n may need them. Each is
/// tried in a process of its own; says what is wrong with the others.
std::vector<std::string> those_that_are_right(const std::vector<std::string>& backends, const Options&, int patience,
                                              std::int64_t n);
/// What a person has to know of a backend that was found right, but for elements; empty: nothing.
std::string grade_note(const std::string& backend);

/// What to ask of a backend that does not offer a precision: "; mine has --precision fp32"; empty where it has none.
std::string what_it_offers(const Choice&);
/// A line on what the adapter of a plugin kernel has cost since this was last asked; empty where it did nothing.
std::string adapter_note(const std::string& backend);

}  // namespace lasolve::cli
