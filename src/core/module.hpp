// Where modules are, which the tool loads when they are asked for.
#pragma once

#include <filesystem>
#include <string>

namespace lasolve {

/// The file of a module that the build has made as `built`: beside the tool where that is installed, else there.
inline std::string file_of_module(const char* bin_to_modules, const std::string& built) {
  std::error_code error;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path installed = tool / bin_to_modules / std::filesystem::path(built).filename();
  return !tool.empty() && std::filesystem::exists(installed, error) ? installed.string() : built;
}

}  // namespace lasolve
