// Engines by name. Each is a module, loaded when it is asked for, so that nothing else needs what it needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.hpp"

namespace lasolve::engines {

std::vector<std::string> names();

/// Throws MachineError, with what would be needed, where its module is not there.
std::unique_ptr<Engine> load(const std::string& name);

/// The rank that this process has, as the program says that started it; 0 where none does.
int rank_of_this_process();
/// The same of their number; 1 where there is one.
int ranks_of_this_process();

}  // namespace lasolve::engines
