#include "engines/load.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "core/module.hpp"
#include "core/shared_library.hpp"

namespace lasolve::engines {

namespace {

/// Its module is named after it.
struct Known {
  const char* name;
  const char* needs;
};

constexpr Known all[] = {
    {"scalapack", "at build time the packages libscalapack-openmpi-dev and libopenmpi-dev"},
    {"cusolvermp", "at build time the package libopenmpi-dev and a toolkit of CUDA 13"},
};

/// What launchers tell each process: Open MPI's, those that speak PMI or PMIx, Slurm's.
constexpr std::array variables_of_rank = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr std::array variables_of_count = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

int number_told(std::span<const char* const> variables, int otherwise) {
  for (const char* variable : variables)
    if (const char* const number = std::getenv(variable)) return std::atoi(number);
  return otherwise;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> words;
  for (const Known& engine : all) words.emplace_back(engine.name);
  return words;
}

std::unique_ptr<Engine> load(const std::string& name) {
  const Known* const known =
      std::find_if(std::begin(all), std::end(all), [&](const Known& e) { return e.name == name; });
  require(known != std::end(all), "there is no such engine");
  const std::string file = file_of_module(LASOLVE_BIN_TO_MODULES, LASOLVE_ENGINE_MODULE + name + LASOLVE_MODULE_SUFFIX);
  if (!std::filesystem::exists(file))
    throw MachineError(
        fmt::format("the engine {} is not in this build; it needs {}, then cmake once more and the target lasolve_{}",
                    name, known->needs, name));
  // What libraries of MPI load by themselves looks for its names among those of all.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw MachineError(fmt::format("the engine {} cannot be loaded: {}", name, dlerror()));
  return std::unique_ptr<Engine>(function_of<MakeEngine>(library, file.c_str(), make_engine_name)());
}

int rank_of_this_process() { return number_told(variables_of_rank, 0); }
int ranks_of_this_process() { return number_told(variables_of_count, 1); }

}  // namespace lasolve::engines
