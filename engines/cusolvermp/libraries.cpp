#include "engines/cusolvermp/libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "core/shared_library.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::engines {

namespace {

constexpr const char* variable = "LASOLVE_CUSOLVERMP";
constexpr int least_cublasmp = 1000, least_cusolvermp = 901, nccl_of_that = 22902;

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// A folder of libraries, or one in which pip has installed NVIDIA's packages.
void add(std::vector<std::filesystem::path>& folders, const std::filesystem::path& folder) {
  for (const char* const inside : {"", "nvidia/cu13/lib", "nvidia/cublasmp/cu13/lib", "nvidia/nccl/lib"})
    folders.push_back(folder / inside);
}

std::vector<std::filesystem::path> folders_to_look_in() {
  std::vector<std::filesystem::path> folders;
  std::istringstream listed(of_environment(variable));
  for (std::string folder; std::getline(listed, folder, ':');)
    if (!folder.empty()) add(folders, folder);
  std::error_code error;
  if (const std::string python = of_environment("VIRTUAL_ENV"); !python.empty())
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(python) / "lib", error))
      if (entry.path().filename().string().starts_with("python")) add(folders, entry.path() / "site-packages");
  return folders;
}

/// `about`: what is known of the libraries before it. All symbols are bound at once: so what it lacks of those is said here.
Library loaded(const std::string& name, const std::string& about = "") {
  std::string file = name;
  std::error_code error;
  for (const auto& folder : folders_to_look_in())
    if (std::filesystem::exists(folder / name, error)) {
      file = folder / name;
      break;
    }
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char* const why = dlerror();
    throw MachineError("the engine cusolvermp cannot load " + file + ": " + (why ? why : "no reason is given") + about +
                       ". It looks in the folders of " + variable + ", in the packages of the Python of VIRTUAL_ENV, " +
                       "and where the loader does; 'pip install nvidia-cusolvermp-cu13' installs what it needs");
  }
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name) file = map->l_name;
  return {handle, file};
}

/// `function` ← that of this name, which stays.
template <class Function>
void take(const Library& of, Function& function, const char* name) {
  function = function_of<Function>(of.handle, of.file.c_str(), name);
}
template <class More, class... Args>
void take(const Library& of, Routine<More, Args...>& routine, const char* name) {
  routine.name = name;
  take(of, routine.call, name), take(of, routine.size, (std::string(name) + "_bufferSize").c_str());
}

Nccl nccl_found() {
  Nccl nccl{};
  nccl.library = loaded("libnccl.so.2");
  const Library& of = nccl.library;
  take(of, nccl.version, "ncclGetVersion"), take(of, nccl.unique_id, "ncclGetUniqueId");
  take(of, nccl.create, "ncclCommInitRank"), take(of, nccl.destroy, "ncclCommDestroy");
  take(of, nccl.text, "ncclGetErrorString");
  return nccl;
}

CublasMp blas_found(const std::string& about) {
  CublasMp blas{};
  blas.library = loaded("libcublasmp.so.0", about);
  const Library& of = blas.library;
  take(of, blas.version, "cublasMpGetVersion"), take(of, blas.create, "cublasMpCreate");
  take(of, blas.destroy, "cublasMpDestroy"), take(of, blas.create_grid, "cublasMpGridCreate");
  take(of, blas.destroy_grid, "cublasMpGridDestroy"), take(of, blas.describe, "cublasMpMatrixDescriptorCreate");
  take(of, blas.destroy_description, "cublasMpMatrixDescriptorDestroy"), take(of, blas.trsm, "cublasMpTrsm");
  return blas;
}

CusolverMp solver_found(const std::string& about) {
  CusolverMp solver{};
  solver.library = loaded("libcusolverMp.so.0", about);
  const Library& of = solver.library;
  take(of, solver.create, "cusolverMpCreate"), take(of, solver.destroy, "cusolverMpDestroy");
  take(of, solver.version, "cusolverMpGetVersion"), take(of, solver.create_grid, "cusolverMpCreateDeviceGrid");
  take(of, solver.destroy_grid, "cusolverMpDestroyGrid"), take(of, solver.describe, "cusolverMpCreateMatrixDesc");
  take(of, solver.destroy_description, "cusolverMpDestroyMatrixDesc");
  take(of, solver.getrf, "cusolverMpGetrf"), take(of, solver.getrs, "cusolverMpGetrs");
  take(of, solver.potrf, "cusolverMpPotrf"), take(of, solver.potrs, "cusolverMpPotrs");
  return solver;
}

void require_least(const char* name, const std::string& file, int version, int least) {
  if (version < least)
    throw MachineError("the engine cusolvermp needs " + std::string(name) + " " + version_text(least) +
                       " or later, and " + file + " is " + version_text(version));
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void require_version(const CusolverMp& solver, int version) {
  require_least("cuSOLVERMp", solver.library.file, version, least_cusolvermp);
}

Libraries::Libraries() : nccl(nccl_found()) {
  int version = 0;
  nccl.version(&version);
  const std::string about = " (NCCL is " + version_text(version) + ", " + nccl.library.file + "; cuSOLVERMp " +
                            version_text(least_cusolvermp) + " wants " + version_text(nccl_of_that) + " or later)";
  blas = blas_found(about);
  blas.version(&version);
  require_least("cuBLASMp", blas.library.file, version, least_cublasmp);
  solver = solver_found(about);
}

}  // namespace lasolve::engines
