// Libraries that are loaded when they are first needed.
#pragma once

#include <dlfcn.h>

#include <string>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// A function of a loaded library. Throws MachineError, with the name of the library, where it has none of that name.
template <class Function>
Function function_of(void* library, const char* name_of_library, const char* name) {
  const auto found = reinterpret_cast<Function>(dlsym(library, name));
  if (!found) throw MachineError(std::string(name_of_library) + " has no function " + name);
  return found;
}

}  // namespace lasolve
