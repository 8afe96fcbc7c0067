// Eigen's PartialPivLU and LLT, from a module that is loaded when it is first needed: module/eigen.cpp says why.
#include <dlfcn.h>

#include <algorithm>

#include "baseline_solvers/baseline_solvers.hpp"
#include "baseline_solvers/module/eigen.hpp"
#include "baseline_solvers/openmp.hpp"
#include "core/module.hpp"
#include "core/shared_library.hpp"

namespace lasolve::baseline_solvers {

namespace {

const EigenModule& module() {
  static const EigenModule* const found = [] {
    void* const library =
        dlopen(file_of_module(LASOLVE_BIN_TO_MODULES, LASOLVE_EIGEN_MODULE).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw MachineError(std::string("Eigen's solvers cannot be loaded: ") + dlerror());
    return function_of<decltype(&lasolve_baseline_eigen)>(library, "their module", "lasolve_baseline_eigen")();
  }();
  return *found;
}

/// What a thread maps: its stack, and what it packs of the operands of a product.
constexpr std::size_t bytes_of_a_thread = std::size_t(32) << 20;

template <class T>
std::unique_ptr<Solver<T, Cpu>> make(Queue<Cpu>& q, std::int64_t n, Method method) {
  const EigenModule& eigen = module();
  const int threads = eigen.has_openmp ? std::max(1, openmp_threads(q.threads(), bytes_of_a_thread)) : 1;
  return std::get<EigenModule::Make<T>>(eigen.make)(n, method, threads);
}

/// Eigen shares its products among threads, and nothing else; the updates of its Cholesky are none of them.
std::string note(Method method) {
  if (!module().has_openmp) return "Eigen's own LU and Cholesky run on one thread";
  return method == Method::cholesky ? "Eigen's own Cholesky runs on one thread" : "";
}

}  // namespace

Library eigen() {
  return {"eigen", "Eigen", false, note, [] { module(); }, {make<double>, make<float>, nullptr, nullptr}};
}

}  // namespace lasolve::baseline_solvers
