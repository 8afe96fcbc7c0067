#include "cli/compare/report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "lasolve/matrix.hpp"
#include "plugin/program.hpp"

namespace lasolve::cli {

namespace {

/// The script, beside the tool where it was built or installed. Empty: it is in neither place.
std::string find_script() {
  std::error_code error;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {LASOLVE_BIN_TO_DATA "/lasolve/pictures", "../scripts/pictures"})
    if (const auto path = tool / place; !tool.empty() && std::filesystem::exists(path, error))
      return path.lexically_normal();
  return "";
}

/// The first that can draw: that of a virtual environment, then the system's. The script turns to the system's by itself where the
/// first has no matplotlib, so this is for where the first does not even start.
std::string find_python(const std::string& script) {
  bool any = false;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const int code = plugin::run({python, script, "--check"}, "", false).code;
    if (code == 0) return python;
    any |= code >= 0 && code != 127;
  }
  throw MachineError(
      any ? "pictures take matplotlib; on Debian and Ubuntu it is the package python3-matplotlib"
          : "pictures take Python; on Debian and Ubuntu it is the packages python3 and python3-matplotlib");
}

std::string script_or_error() {
  std::string script = find_script();
  if (script.empty())
    throw MachineError(
        "the script that draws is not beside the tool: it is share/lasolve/pictures where lasolve is installed, and "
        "scripts/pictures in the sources");
  return script;
}

}  // namespace

void require_report_tools() { find_python(script_or_error()); }

std::string report_page(const std::string& json) {
  const std::string script = script_or_error();
  const plugin::Answer answer = plugin::run({find_python(script), script, "--report"}, json, true);
  if (answer.code != 0 || answer.output.empty())
    throw MachineError(fmt::format("the report could not be drawn: {} ended with {}", script, answer.code));
  return answer.output;
}

}  // namespace lasolve::cli
