// What --gemm names: backends of the box, and kernels of somebody's own, which are loaded from files.
#pragma once

#include <string>
#include <vector>

#include "bench/verify.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::cli {

/// Of a command that takes --gemm.
extern const Option patience_option;

/// The names of a list, of which "all" stands alone. A library (a word with a / in it, or that ends in .so) is loaded, a source file
/// compiled before; its backend is in the table from then on, and its name takes the place of the word. `patience`: seconds to wait
/// for a library that is loaded. `asked`: where it is to run; a source in CUDA is compiled for that device. A file that cannot be used
/// is named and left out, if another name is left. Throws UsageError; and where none is left io::InputError with what is wrong with a
/// file, or MachineError where there is no compiler or no device for one.
std::vector<std::string> backends_named(const std::string& list, int patience, Device asked);

/// A file of a list that was left out, why, and the exit code of a command that names no other.
struct LeftOut {
  std::string word, why;
  int code;
};
const std::vector<LeftOut>& kernels_left_out();

/// Of each kernel that was loaded: its file with a hash; of a source the compiler, its command, and a hash of what it made.
Json plugin_kernels();

/// Whether a backend came from a file.
bool is_plugin(const std::string& name);

/// Where backends are to run: automatic means the place of a plugin kernel, where one is among them. Throws UsageError where two are for
/// different places.
Device place_of(const std::vector<std::string>& backends, Device asked);

/// What this process has loaded from files, and what it has left out, in words for another: how many, and three words of each.
std::vector<std::string> loaded_in_words();
/// Loads that, and returns how many words it has taken.
std::size_t load_as_told(const std::vector<std::string>& words);

/// The command of a process that verifies a backend, see bench::verify_apart(); it has what this one has loaded.
std::vector<std::string> verifying_command();
/// The child's side: loads that, serves the words behind it, and returns the exit code.
int verify_as_told(const std::vector<std::string>& words);

/// Says on standard error what is wrong with a kernel, and what an own one may declare then, in a few lines.
void say_what_is_wrong(const Choice&, const bench::Fault&);

/// Those of some backends that are not own ones, or that are right in all precisions in which a solve of order n may need them. Each is
/// tried in a process of its own; says what is wrong with the others.
std::vector<std::string> those_that_are_right(const std::vector<std::string>& backends, const Options&, int patience,
                                              std::int64_t n);
/// What a person has to know of a backend that was found right, but for elements; empty: nothing.
std::string grade_note(const std::string& backend);

/// Where a plugin kernel on CUDA was found to have written beside a matrix: throws KernelFault. On the CPU its call does.
void require_intact(const std::string& backend);
/// What to ask of a backend that does not offer a precision: "; mine has --precision fp32"; empty where it has none.
std::string what_it_offers(const Choice&);
/// A line on what the adapter of a plugin kernel has cost since this was last asked; empty where it did nothing.
std::string adapter_note(const std::string& backend);

}  // namespace lasolve::cli
