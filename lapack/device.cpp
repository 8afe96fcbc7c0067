#include "lapack/device.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>

#include "core/choose.hpp"
#include "core/process.hpp"
#include "lapack/counted.hpp"

namespace lasolve::lapack {

namespace {

/// Solves with factors that are on the host pay where the cores take longer than a copy of them does: with so many right-hand sides.
constexpr std::int64_t rhs_worth_a_copy = 128;

void say_once(const char* why) {
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) std::fprintf(stderr, "lasolve: the CPU computes what the device cannot: %s\n", why);
}

std::optional<const OnDevice> chosen_device() {
  try {
    const Choice choice = choose({.gemm = settings().gemm, .device = settings().device});
    if (choice.backend.index() == 0) return {};
    const GemmBackend<Cuda>& backend = *std::get<1>(choice.backend);
    std::snprintf(tally().device, sizeof tally().device, "%s", choice.device_name().c_str());
    std::snprintf(tally().gemm_of_device, sizeof tally().gemm_of_device, "%s", backend.name);
    return OnDevice{choice.cuda_device, counted(backend)};
  } catch (const std::exception& e) {
    say_once(e.what());
    return {};
  }
}

/// f(where), if that is a device, and goes well.
template <class F>
auto tried(std::int64_t n, F f) -> std::optional<decltype(f(std::declval<const OnDevice&>()))> {
  if (settings().device.kind == Device::cpu || n == 0 || n < settings().device_crossover || generation() != 1)
    return {};  // CUDA does not live in a forked child
  const OnDevice* const where = device();
  if (!where) return {};
  try {
    return f(*where);
  } catch (const there::HalfWritten&) {
    throw;
  } catch (const std::exception& e) {
    say_once(e.what());
    return {};
  }
}

bool is_worth_a_copy(std::int64_t nrhs) { return nrhs >= rhs_worth_a_copy || settings().device_crossover == 0; }

}  // namespace

const OnDevice* device() {
  constinit static NeverDestroyed<const std::optional<const OnDevice>> chosen;
  const std::optional<const OnDevice>& its = chosen.get(chosen_device);
  return its ? &*its : nullptr;
}

template <class T>
std::optional<std::int64_t> lu_on_device(MatrixView<T> A, std::int64_t* pivots, MatrixView<T> B) {
  if (A.rows() != A.cols()) return {};
  return tried(A.rows(), [&](const OnDevice& where) { return there::factor_lu(where, A, pivots, B); });
}

template <class T>
bool cholesky_on_device(Half<T> A, MatrixView<T> B) {
  return tried(A.n(), [&](const OnDevice& where) { return there::factor_cholesky(where, A, B); }) == 0;
}

template <class T>
bool solve_lu_on_device(MatrixView<T> A, const std::int64_t* pivots, MatrixView<T> B, Op op) {
  return is_worth_a_copy(B.cols()) &&
         tried(A.rows(), [&](const OnDevice& where) { return there::solve_lu(where, A, pivots, B, op), true; });
}

template <class T>
bool solve_cholesky_on_device(Half<T> A, MatrixView<T> B) {
  return is_worth_a_copy(B.cols()) &&
         tried(A.n(), [&](const OnDevice& where) { return there::solve_cholesky(where, A, B), true; });
}

#define LASOLVE_INSTANTIATE(T)                                                                    \
  template std::optional<std::int64_t> lu_on_device(MatrixView<T>, std::int64_t*, MatrixView<T>); \
  template bool cholesky_on_device(Half<T>, MatrixView<T>);                                       \
  template bool solve_lu_on_device(MatrixView<T>, const std::int64_t*, MatrixView<T>, Op);        \
  template bool solve_cholesky_on_device(Half<T>, MatrixView<T>);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
