// Where the files are that belong to the tool: modules, which it loads when they are asked for, and others.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

namespace lasolve {

/// The program of this process; empty where Linux does not tell.
inline std::filesystem::path this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

/// The first of some paths that is there, from the folder of this program on; empty: none is.
inline std::string beside_this_program(std::initializer_list<std::filesystem::path> paths) {
  std::error_code error;
  const std::filesystem::path folder = this_program().parent_path();
  for (const auto& path : paths)
    if (!folder.empty() && std::filesystem::exists(folder / path, error)) return (folder / path).lexically_normal();
  return "";
}

/// The file of a module that the build has made as `built`: beside the tool where that is installed, else there.
inline std::string file_of_module(const char* bin_to_modules, const std::string& built) {
  const std::string installed = beside_this_program({bin_to_modules / std::filesystem::path(built).filename()});
  return installed.empty() ? built : installed;
}

}  // namespace lasolve
