#include "own/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/backend_table.hpp"

namespace lasolve::own {

namespace {

template <class Place>
struct Slot {
  std::string name, summary;
  std::optional<Adapter<Place>> adapter;
  GemmBackend<Place> backend{};
};

/// Never destroyed: at the end of the process CUDA may be gone.
template <class Place>
std::array<Slot<Place>, most_kernels>& slots() {
  static auto& all = *new std::array<Slot<Place>, most_kernels>;
  return all;
}

template <class Place, std::size_t i, class T>
void multiply(Queue<Place>& q, T alpha, Operand<T, Place> A, Operand<T, Place> B, T beta, MatrixView<T, Place> C) {
  slots<Place>()[i].adapter->multiply(q, alpha, A, B, beta, C);
}

template <class Place, std::size_t i>
void prepare(Queue<Place>& q, const ProductShape& p) {
  Adapter<Place>& adapter = *slots<Place>()[i].adapter;
  if (p.precision == Precision::fp64) adapter.template prepare<double>(q, p.m, p.n, p.k);
  if (p.precision == Precision::fp32) adapter.template prepare<float>(q, p.m, p.n, p.k);
}

/// The functions of a slot.
template <std::size_t i, class Place>
void set_functions(GemmBackend<Place>& backend, const lasolve_kernel& kernel) {
  const auto roundoff = [](double declared, Precision p) { return declared > 0 ? declared : unit_roundoff_of(p); };
  if (kernel.f64) backend.f64 = {multiply<Place, i, double>, roundoff(kernel.f64_roundoff, Precision::fp64)};
  if (kernel.f32) backend.f32 = {multiply<Place, i, float>, roundoff(kernel.f32_roundoff, Precision::fp32)};
  backend.prepare = prepare<Place, i>;
}

template <class Place, std::size_t... i>
void set_functions(std::size_t at, GemmBackend<Place>& backend, const lasolve_kernel& kernel,
                   std::index_sequence<i...>) {
  ((i == at ? set_functions<i>(backend, kernel) : void()), ...);
}

template <class Place>
void add(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  auto& all = slots<Place>();
  const auto free = std::find_if(all.begin(), all.end(), [](const auto& slot) { return !slot.adapter; });
  if (free == all.end())
    throw std::invalid_argument(fmt::format("at most {} own kernels can be used at once", most_kernels));
  free->name = name, free->summary = kernel.summary ? kernel.summary : "";
  free->backend.name = free->name.c_str(), free->backend.summary = free->summary.c_str();
  set_functions(std::size_t(free - all.begin()), free->backend, kernel, std::make_index_sequence<most_kernels>());
  backend_table<Place>().add({free->backend.name, &free->backend});
  free->adapter.emplace(kernel, why_failed);
}

/// f(adapter) of one, or, where no name is given, of all. Whether there was any.
template <class Place, class F>
bool with(const std::string* name, F f) {
  bool any = false;
  for (Slot<Place>& slot : slots<Place>())
    if (slot.adapter && (!name || slot.name == *name)) f(*slot.adapter), any = true;
  return any;
}

}  // namespace

void add_backend(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  kernel.memory == LASOLVE_CUDA ? add<Cuda>(kernel, name, why_failed) : add<Cpu>(kernel, name, why_failed);
}

std::optional<Device::Kind> place_of(const std::string& name) {
  const auto nothing = [](const auto&) {};
  if (with<Cpu>(&name, nothing)) return Device::cpu;
  if (with<Cuda>(&name, nothing)) return Device::cuda;
  return {};
}

Cost take_cost(const std::string& name) {
  Cost cost;
  const auto take = [&](auto& adapter) { cost = adapter.take_cost(); };
  with<Cpu>(&name, take), with<Cuda>(&name, take);
  return cost;
}

void require_intact(const std::string& name) {
  with<Cuda>(&name, [](auto& adapter) { adapter.require_intact(); });
}
void require_intact() {
  with<Cuda>(nullptr, [](auto& adapter) { adapter.require_intact(); });
}

}  // namespace lasolve::own
