#include "plugin/backends.hpp"

#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "core/backend_table.hpp"
#include "io/input_error.hpp"
#include "lasolve/plugin.hpp"
#include "plugin/plugin.hpp"

namespace lasolve::plugin {

namespace {

/// What the record of a kernel hands to its functions.
template <class Space>
struct Own {
  std::string name, summary;
  mutable Adapter<Space> adapter;
  GemmBackend<Space> record;
  const Own* before = nullptr;
};

template <class Space>
Adapter<Space>& adapter_of(const void* self) {
  return static_cast<const Own<Space>*>(self)->adapter;
}

template <class T, class Space>
void multiply(const void* self, Queue<Space>& q, T alpha, Operand<T, Space> A, Operand<T, Space> B, T beta,
              MatrixView<T, Space> C) {
  adapter_of<Space>(self).multiply(q, alpha, A, B, beta, C);
}

template <class Space>
void prepare(const void* self, Queue<Space>& q, const ProductShape& p) {
  Adapter<Space>& adapter = adapter_of<Space>(self);
  if (p.precision == Precision::fp64) adapter.template prepare<double>(q, p.m, p.n, p.k);
  if (p.precision == Precision::fp32) adapter.template prepare<float>(q, p.m, p.n, p.k);
}

template <class T, class Space>
GemmKernel<precision_of<T>, Space> kernel_of(bool offered, double roundoff) {
  return {offered ? multiply<T, Space> : nullptr, roundoff > 0 ? roundoff : unit_roundoff_of(precision_of<T>)};
}

template <class Space>
std::unique_ptr<Own<Space>> own_of(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  const char* const summary = kernel.summary ? kernel.summary : "";
  std::unique_ptr<Own<Space>> own(new Own<Space>{name, summary, Adapter<Space>(kernel, why_failed), {}});
  GemmBackend<Space>& record = own->record;
  record.name = own->name.c_str(), record.summary = own->summary.c_str();
  record.kernels = {kernel_of<double, Space>(kernel.f64, kernel.f64_roundoff),
                    kernel_of<float, Space>(kernel.f32, kernel.f32_roundoff)};
  record.self = own.get(), record.prepare = prepare<Space>;
  return own;
}

template <class Space>
void add(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  std::unique_ptr<Own<Space>> own = own_of<Space>(kernel, name, why_failed);
  backend_table<Space>().add({own->record.name, &own->record});
  static_cast<void>(own.release());
}

/// A backend that stays until the process is gone, and is reached from the next: else it would count as lost.
template <class Space>
const GemmBackend<Space>* kept(std::unique_ptr<Own<Space>> own) {
  static std::atomic<const Own<Space>*> last = nullptr;
  own->before = last.exchange(own.get());
  return &own.release()->record;
}

GemmChoice choice_of(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  const std::string its = name.empty() ? kernel.name : name;
  if (kernel.memory == LASOLVE_CUDA) return kept(own_of<Cuda>(kernel, its, why_failed));
  return kept(own_of<Cpu>(kernel, its, why_failed));
}

/// f(adapter) of one, or, where no name is given, of all. Whether there was any.
template <class Space, class F>
bool with(const std::string& name, F f) {
  bool any = false;
  for (const GemmBackend<Space>* record : gemm_backends<Space>())
    if (record->prepare == prepare<Space> && (name.empty() || record->name == name))
      f(adapter_of<Space>(record->self)), any = true;
  return any;
}

}  // namespace

void add_backend(const lasolve_kernel& kernel, const std::string& name, WhyFailed why_failed) {
  kernel.memory == LASOLVE_CUDA ? add<Cuda>(kernel, name, why_failed) : add<Cpu>(kernel, name, why_failed);
}

std::optional<Device::Kind> device_kind_of(const std::string& name) {
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

}  // namespace lasolve::plugin

namespace lasolve {
inline namespace LASOLVE_ABI {

GemmChoice backend_of(const lasolve_kernel& kernel, const std::string& name) try {
  return plugin::choice_of(plugin::checked(&kernel, "a kernel"), name, nullptr);
} catch (const io::InputError& e) {
  throw std::invalid_argument(e.what());
}

GemmChoice load_kernel(const std::string& library, const std::string& name) try {
  constexpr int patience = 60;
  const plugin::Plugin its = plugin::load_plugin(library, library, patience);
  return plugin::choice_of(its.kernel, name, its.why_failed);
} catch (const io::InputError& e) {
  throw std::invalid_argument(e.what());
}

}  // namespace LASOLVE_ABI
}  // namespace lasolve
