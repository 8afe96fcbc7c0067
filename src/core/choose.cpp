#include "core/choose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace lasolve {

namespace {

template <class Place>
const GemmBackend<Place>* find(const std::string& name) {
  for (const auto* backend : gemm_backends<Place>())
    if (backend->name == name) return backend;
  return nullptr;
}

template <class Place>
std::string why_not(const GemmBackend<Place>& backend, int device) {
  return backend.unavailable ? backend.unavailable(device) : "";
}

template <class Place>
bool offered(const GemmBackend<Place>& backend, Precision precision) {
  bool offered = precision == Precision::automatic;
  for_precision(precision, [&](auto P) { offered = bool(backend.template in<P>()); });
  return offered;
}

const char* automatic_backend(Device::Kind place) {
  if (place == Device::cuda) return "cublas";
  return find<Cpu>("blas") ? "blas" : "eigen";
}

/// Why CUDA device `index` cannot be used; empty: it can.
std::string why_no_cuda(int index) {
  const CudaDevices& devices = cuda_devices();
  if (devices.names.empty()) return devices.why_none;
  if (index < 0 || index >= int(devices.names.size()))
    return fmt::format("there is no cuda:{}; this machine has cuda:0 to cuda:{}", index, devices.names.size() - 1);
  return "";
}

std::vector<std::string> known_names() {
  std::vector<std::string> names = {"auto"};
  for (const auto* b : gemm_backends<Cpu>()) names.push_back(b->name);
  for (const auto* b : gemm_backends<Cuda>()) names.push_back(b->name);
  for (const auto& b : missing_gemm_backends()) names.push_back(b.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const MissingBackend* find_missing(const std::string& name, const char* place) {
  for (const auto& b : missing_gemm_backends())
    if (b.name == name && b.place == std::string(place)) return &b;
  return nullptr;
}

std::string instead() {
  const bool cuda = why_no_cuda(0).empty();
  const char* name = automatic_backend(cuda ? Device::cuda : Device::cpu);
  return fmt::format("\n  would run here: --device {} --gemm {}", cuda ? "cuda" : "cpu", name);
}

template <class Place>
Choice on(const GemmBackend<Place>& backend, int device) {
  const std::string why = why_not(backend, device);
  if (!why.empty())
    throw MachineError(fmt::format("the GEMM backend '{}' cannot run here: {}{}", backend.name, why, instead()));
  return {&backend, device, {}};
}

Choice choose_cuda(std::string name, int device) {
  const std::string why = why_no_cuda(device);
  if (!why.empty()) throw MachineError(fmt::format("no CUDA device: {}{}", why, instead()));
  if (name == "auto") name = automatic_backend(Device::cuda);
  if (const auto* backend = find<Cuda>(name)) return on(*backend, device);
  throw MachineError(fmt::format("the GEMM backend '{}' does not exist on CUDA{}", name, instead()));
}

Choice choose_cpu(std::string name) {
  if (name == "auto") name = automatic_backend(Device::cpu);
  if (const auto* backend = find<Cpu>(name)) return on(*backend, 0);
  if (const auto* missing = find_missing(name, "cpu"))
    throw MachineError(
        fmt::format("the GEMM backend '{}' is not in this build: it needs {}{}", name, missing->needs, instead()));
  throw MachineError(fmt::format("the GEMM backend '{}' needs a CUDA device: {}{}", name,
                                 why_no_cuda(0).empty() ? "but the CPU was asked for" : why_no_cuda(0), instead()));
}

Choice choose_named(const std::string& name, Device device) {
  const auto names = known_names();
  if (!std::count(names.begin(), names.end(), name))
    throw UnknownName(fmt::format("there is no GEMM backend '{}'{}\n  backends: {}", name, did_you_mean(name, names),
                                  fmt::join(names, ", ")));
  if (device.kind == Device::cuda) return choose_cuda(name, device.index);
  if (device.kind == Device::cpu) return choose_cpu(name);
  const std::string no_cuda = why_no_cuda(0);
  if (no_cuda.empty() && (name == "auto" || find<Cuda>(name))) return choose_cuda(name, 0);
  Choice choice = choose_cpu(name);
  if (find<Cuda>(name) || find_missing(name, "cuda"))
    choice.notes.push_back(fmt::format("the CPU's '{}' was used: {}", name, no_cuda));
  return choice;
}

}  // namespace

std::string Choice::device() const {
  return backend.index() == 0 ? std::string("cpu") : fmt::format("cuda:{}", cuda_device);
}

bool Choice::offers(Precision precision) const {
  return std::visit([=](const auto* b) { return offered(*b, precision); }, backend);
}

Choice choose(const Options& options) {
  if (const auto* name = std::get_if<std::string>(&options.gemm)) return choose_named(*name, options.device);
  if (const auto* own = std::get_if<const GemmBackend<Cpu>*>(&options.gemm)) {
    require(*own != nullptr && options.device.kind != Device::cuda, "a CPU backend record, but CUDA was asked for");
    return on(**own, 0);
  }
  const auto* own = std::get<const GemmBackend<Cuda>*>(options.gemm);
  require(own != nullptr && options.device.kind != Device::cpu, "a CUDA backend record, but the CPU was asked for");
  const std::string why = why_no_cuda(options.device.index);
  if (!why.empty()) throw MachineError("no CUDA device: " + why);
  return on(*own, options.device.index);
}

std::vector<std::string> runnable_backends(Device device, Precision precision) {
  const bool cuda = device.kind == Device::cuda || (device.kind == Device::automatic && why_no_cuda(0).empty());
  std::vector<std::string> names;
  auto collect = [&](const auto& backends) {
    for (const auto* b : backends)
      if (why_not(*b, device.index).empty() && offered(*b, precision)) names.push_back(b->name);
  };
  if (cuda)
    collect(gemm_backends<Cuda>());
  else
    collect(gemm_backends<Cpu>());
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  // Levenshtein distance: insertions, deletions and exchanges of one letter.
  auto distance = [&](const std::string& other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t exchanged = diagonal + (word[i - 1] != other[j - 1]);
        diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, exchanged}));
      }
    }
    return row.back();
  };
  const std::string* best = nullptr;
  if (word.size() > 1)
    for (const auto& name : known)
      if (name.starts_with(word)) return fmt::format("; did you mean '{}'?", name);
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& name : known)
    if (distance(name) < least) least = distance(name), best = &name;
  return best ? fmt::format("; did you mean '{}'?", *best) : "";
}

}  // namespace lasolve
