#include "own/backends.hpp"

#include <fmt/format.h>

#include <memory>

#include "core/backend_table.hpp"

namespace lasolve::own {

namespace {

/// What the record of a kernel hands to its functions.
template <class Place>
struct Own {
  std::string name, summary;
  mutable Adapter<Place> adapter;
  GemmBackend<Place> record;
};

template <class Place>
Adapter<Place>& adapter_of(const void* self) {
  return static_cast<const Own<Place>*>(self)->adapter;
}

template <class T, class Place>
void multiply(const void* self, Queue<Place>& q, T alpha, Operand<T, Place> A, Operand<T, Place> B, T beta,
              MatrixView<T, Place> C) {
  adapter_of<Place>(self).multiply(q, alpha, A, B, beta, C);
}

template <class Place>
void prepare(const void* self, Queue<Place>& q, const ProductShape& p) {
  Adapter<Place>& adapter = adapter_of<Place>(self);
  if (p.precision == Precision::fp64) adapter.template prepare<double>(q, p.m, p.n, p.k);
  if (p.precision == Precision::fp32) adapter.template prepare<float>(q, p.m, p.n, p.k);
}

template <class T, class Place>
GemmKernel<precision_of<T>, Place> kernel_of(bool offered, double roundoff) {
  return {offered ? multiply<T, Place> : nullptr, roundoff > 0 ? roundoff : unit_roundoff_of(precision_of<T>)};
}

template <class Place>
void add(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  const char* const summary = kernel.summary ? kernel.summary : "";
  std::unique_ptr<Own<Place>> own(new Own<Place>{name, summary, Adapter<Place>(kernel, why_failed), {}});
  GemmBackend<Place>& record = own->record;
  record.name = own->name.c_str(), record.summary = own->summary.c_str();
  record.kernels = {kernel_of<double, Place>(kernel.f64, kernel.f64_roundoff),
                    kernel_of<float, Place>(kernel.f32, kernel.f32_roundoff)};
  record.self = own.get(), record.prepare = prepare<Place>;
  backend_table<Place>().add({record.name, &record});
  static_cast<void>(own.release());  // it stays as long as the table, until the process is gone
}

/// f(adapter) of one, or, where no name is given, of all. Whether there was any.
template <class Place, class F>
bool with(const std::string& name, F f) {
  bool any = false;
  for (const GemmBackend<Place>* record : gemm_backends<Place>())
    if (record->prepare == prepare<Place> && (name.empty() || record->name == name))
      f(adapter_of<Place>(record->self)), any = true;
  return any;
}

}  // namespace

void add_backend(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  kernel.memory == LASOLVE_CUDA ? add<Cuda>(kernel, name, why_failed) : add<Cpu>(kernel, name, why_failed);
}

std::optional<Device::Kind> place_of(const std::string& name) {
  const auto nothing = [](const auto&) {};
  if (with<Cpu>(name, nothing)) return Device::cpu;
  if (with<Cuda>(name, nothing)) return Device::cuda;
  return {};
}

Cost take_cost(const std::string& name) {
  Cost cost;
  const auto take = [&](auto& adapter) { cost = adapter.take_cost(); };
  with<Cpu>(name, take), with<Cuda>(name, take);
  return cost;
}

void require_intact(const std::string& name) {
  with<Cuda>(name, [](auto& adapter) { adapter.require_intact(); });
}

}  // namespace lasolve::own
