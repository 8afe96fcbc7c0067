// Kernels of somebody's own that were named as files, and are loaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::plugin {

/// Called with what a person should know of how a file was loaded.
using Notes = std::function<void(const std::string&)>;

/// The names of backends, of which some are files. A library (a word with a / in it, or that ends in .so) is loaded, a source file
/// compiled before; its backend is in the table from then on, and its name takes the place of the word. `patience`: seconds to wait
/// for a library that is loaded. `asked`: where it is to run; a source in CUDA is compiled for that device. A file that cannot be used
/// is left out, if another name is left. Throws io::UsageError; and where none is left io::InputError with what is wrong with a file,
/// or MachineError where there is no compiler or no device for one.
std::vector<std::string> backends_named(const std::vector<std::string>& words, int patience, Device asked,
                                        const Notes&);

/// A file that was left out, and why; it may be for want of a compiler or a device.
struct LeftOut {
  std::string word, why;
  bool for_want_of_machine;
};
const std::vector<LeftOut>& kernels_left_out();

/// JSON of each kernel that was loaded: its file with a hash; of a source the compiler, its command, and a hash of what it made.
std::vector<std::string> loaded_kernels();

/// The library of such a kernel; of a source, the one that it was compiled to, which is there as long as this process.
std::string library_of(const std::string& name);

/// Whether a backend came from a file.
bool is_plugin(const std::string& name);

/// Where backends are to run: automatic means the device of a plugin kernel, where one is among them. Throws io::UsageError where two
/// are for different places.
Device device_for(const std::vector<std::string>& backends, Device asked);

/// What this process has loaded from files, and what it has left out, in words for another.
std::vector<std::string> loaded_in_words();
/// Loads that, and returns how many words it has taken.
std::size_t load_from_words(const std::vector<std::string>& words);

}  // namespace lasolve::plugin
