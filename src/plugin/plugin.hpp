// Plugins: shared libraries with a kernel, as lasolve/kernel.h describes them.
#pragma once

#include <string>

#include "plugin/adapter.hpp"

namespace lasolve::plugin {

struct Plugin {
  lasolve_kernel kernel;
  WhyFailed why_failed = nullptr;  ///< lasolve_plugin_error(), where it has one
  std::string note = {};           ///< what a person should know of how it was loaded
};

/// Loads such a library for good, and checks the record of its kernel. It is loaded in a process of its own first, which may crash, or
/// take longer than `patience` seconds. Throws io::InputError, in which `name` stands for the library.
Plugin load_plugin(const std::string& library, const std::string& name, int patience);

/// The record as this version knows it: what it lacks is 0. Throws as load_plugin().
lasolve_kernel checked(const lasolve_kernel* record, const std::string& name);

}  // namespace lasolve::plugin
