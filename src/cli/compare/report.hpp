// The page with pictures, which a script draws.
#pragma once

#include <string>

namespace lasolve::cli {

/// Throws MachineError where the script, Python or matplotlib is missing, with the package that has it. To be called before a long
/// measurement.
void require_report_tools();

/// HTML of the JSON of a comparison. Throws MachineError where the script fails.
std::string report_page(const std::string& json);

}  // namespace lasolve::cli
