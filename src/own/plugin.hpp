// Plugins: shared libraries with a kernel, as lasolve/kernel.h describes them.
#pragma once

#include <string>

#include "lasolve/kernel.h"

namespace lasolve::own {

/// What the function of such a library returns, checked; the library stays loaded. It is loaded in a process of its own first, which
/// may crash, or take longer than `patience` seconds. Throws io::InputError, in which `name` stands for the library, and
/// std::invalid_argument where the kernel is for CUDA.
lasolve_kernel load_plugin(const std::string& library, const std::string& name, int patience);

/// The record as this version knows it: what it lacks is 0. Throws as load_plugin().
lasolve_kernel checked(const lasolve_kernel* record, const std::string& name);

}  // namespace lasolve::own
