#include "plugin/nvcc.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "core/range.hpp"

namespace lasolve::plugin {

namespace {

bool runs(const std::string& file) { return access(file.c_str(), X_OK) == 0; }

bool names_architecture(const std::string& flag) {
  for (const char* const option : {"-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"})
    if (flag == option || flag.starts_with(option + std::string("="))) return true;
  return false;
}

}  // namespace

std::vector<std::string> words_in(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  std::istringstream text(value && *value ? value : otherwise);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> nvcc() {
  if (auto words = words_in("CUDACXX"); !words.empty()) return words;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (runs(folder + "/nvcc")) return {folder + "/nvcc"};
  const std::string usual = "/usr/local/cuda/bin/nvcc";  // where CMake looks, too
  return runs(usual) ? std::vector<std::string>{usual} : std::vector<std::string>{};
}

std::string architecture_for(int capability, const std::vector<Architecture>& built_for) {
  if (capability == 0) return fmt::format("sm_{}", least_capability);
  const bool special =
      any_of(built_for, [&](const Architecture& a) { return a.capability == capability && a.variant == 'a'; });
  return fmt::format("sm_{}{}", capability, special ? "a" : "");
}

std::vector<std::string> nvcc_arguments(const std::string& include, const std::string& architecture,
                                        const std::vector<std::string>& flags, const std::vector<std::string>& sources,
                                        const std::string& library, const std::vector<std::string>& link_flags) {
  std::vector<std::string> words = {"-O3", "-shared", "-Xcompiler", "-fPIC", "-I", include};
  if (!any_of(flags, names_architecture)) words.push_back("-arch=" + architecture);
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), sources.begin(), sources.end());
  words.insert(words.end(), {"-o", library});
  for (const std::string& flag : link_flags)
    if (flag.starts_with("-Wl,"))
      words.insert(words.end(), {"-Xlinker", flag.substr(4)});
    else
      words.push_back(flag);
  return words;
}

// The last error of a launch is known to the runtime that launched it, and each library has one of its own.
const char* const text_of_plugin_error = R"TEXT(#include <cuda_runtime_api.h>
extern "C" __attribute__((weak, visibility("default"))) const char* lasolve_plugin_error(void) {
  const cudaError_t e = cudaGetLastError();
  return e == cudaSuccess ? 0 : cudaGetErrorString(e);
}
)TEXT";

}  // namespace lasolve::plugin
