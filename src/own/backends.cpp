#include "own/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/backend_table.hpp"

namespace lasolve::own {

namespace {

struct Place {
  std::string name, summary;
  std::optional<Adapter> adapter;
  GemmBackend<Cpu> backend{};
};

std::array<Place, most_kernels>& places() {
  static std::array<Place, most_kernels> all;
  return all;
}

template <std::size_t i, class T>
void multiply(Queue<Cpu>& q, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  places()[i].adapter->multiply(q, alpha, A, B, beta, C);
}

template <std::size_t i>
void prepare(Queue<Cpu>& q, Precision precision, Op, Op, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Adapter& adapter = *places()[i].adapter;
  if (precision == Precision::fp64) adapter.prepare<double>(q, m, n, k);
  if (precision == Precision::fp32) adapter.prepare<float>(q, m, n, k);
}

/// The functions of a place.
template <std::size_t i>
void set_functions(GemmBackend<Cpu>& backend, const lasolve_kernel& kernel) {
  const auto roundoff = [](double declared, Precision p) { return declared > 0 ? declared : unit_roundoff_of(p); };
  if (kernel.f64) backend.f64 = {multiply<i, double>, roundoff(kernel.f64_roundoff, Precision::fp64)};
  if (kernel.f32) backend.f32 = {multiply<i, float>, roundoff(kernel.f32_roundoff, Precision::fp32)};
  backend.prepare = prepare<i>;
}

template <std::size_t... i>
void set_functions(std::size_t at, GemmBackend<Cpu>& backend, const lasolve_kernel& kernel, std::index_sequence<i...>) {
  ((i == at ? set_functions<i>(backend, kernel) : void()), ...);
}

}  // namespace

const GemmBackend<Cpu>& add_backend(const lasolve_kernel& kernel, const std::string& name) {
  const auto free = std::find_if(places().begin(), places().end(), [](const Place& p) { return !p.adapter; });
  if (free == places().end())
    throw std::invalid_argument(fmt::format("at most {} own kernels can be used at once", most_kernels));
  free->name = name, free->summary = kernel.summary ? kernel.summary : "";
  free->backend.name = free->name.c_str(), free->backend.summary = free->summary.c_str();
  set_functions(std::size_t(free - places().begin()), free->backend, kernel, std::make_index_sequence<most_kernels>());
  backend_table<Cpu>().add({free->backend.name, &free->backend});
  free->adapter.emplace(kernel);
  return free->backend;
}

Adapter* adapter_of(const std::string& name) {
  for (Place& p : places())
    if (p.adapter && p.name == name) return &*p.adapter;
  return nullptr;
}

}  // namespace lasolve::own
