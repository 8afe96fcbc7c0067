#include "core/choose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/backend_table.hpp"
#include "core/range.hpp"
#include "lasolve/names.hpp"

namespace lasolve {

namespace {

template <class Space>
const GemmBackend<Space>* find(std::string_view name) {
  for (const auto* backend : gemm_backends<Space>())
    if (backend->name == name) return backend;
  return nullptr;
}

template <class Space>
std::string why_not(const GemmBackend<Space>& backend, int device) {
  return backend.unavailable ? backend.unavailable(device) : "";
}

/// What `auto` is on a device: the fastest that can run there and offers products in a precision. Null: none does. `better` gets why a
/// faster one cannot run.
template <class Space>
const GemmBackend<Space>* fastest(Precision products, int device, std::string* better = nullptr) {
  for (const auto& entry : backend_table<Space>().measured()) {
    if (products != Precision::automatic && !offers(*entry.record, products)) continue;
    const std::string why = why_not(*entry.record, device);
    if (why.empty()) return entry.record;
    if (better && better->empty()) *better = fmt::format("'{}' cannot run here: {}", entry.record->name, why);
  }
  return nullptr;
}
/// The same, or where none offers that, one that will say so.
template <class Space>
const GemmBackend<Space>* automatic(Precision products, int device, std::string* better = nullptr) {
  const auto* const found = fastest<Space>(products, device, better);
  return found ? found : fastest<Space>(Precision::automatic, device);
}

const char* automatic_backend(const Device& device) {
  const auto name = [](const auto* backend) { return backend ? backend->name : "auto"; };
  return device.kind == Device::cuda ? name(automatic<Cuda>(Precision::automatic, device.index))
                                     : name(automatic<Cpu>(Precision::automatic, 0));
}

/// In which a backend has to multiply for the precision that is asked for.
Precision products_of(const Options& options) {
  const SolvePrecision* const named = find_solve_precision(options.precision);
  return named ? named->products : Precision::automatic;
}

/// Why CUDA device `index` cannot be used; empty: it can.
std::string why_no_cuda(int index, const CudaHere& cuda) {
  const CudaDevices& devices = cuda.devices();
  if (devices.names.empty()) return devices.why_none;
  if (index < 0 || index >= int(devices.names.size()))
    return fmt::format("there is no cuda:{}; this machine has cuda:0 to cuda:{}", index, devices.names.size() - 1);
  const std::string why = cuda.why_not(index);
  return why.empty() ? "" : fmt::format("cuda:{} ({}) {}", index, devices.names[std::size_t(index)], why);
}

/// The first CUDA device that can be used.
std::optional<int> usable(const CudaHere& cuda) {
  for (int i = 0; i < int(cuda.devices().names.size()); ++i)
    if (why_no_cuda(i, cuda).empty()) return i;
  return {};
}

/// Why no CUDA device can be used, where that is so.
std::string why_none_usable(const CudaHere& cuda) {
  std::string all = cuda.devices().why_none;
  for (int i = 0; i < int(cuda.devices().names.size()); ++i) all += (all.empty() ? "" : "; ") + why_no_cuda(i, cuda);
  return all;
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

/// Whether some device has a backend of this name, or would have it in another build.
bool is_known(std::string_view name) {
  const auto missing = missing_gemm_backends();
  return name == "auto" || find<Cpu>(name) || find<Cuda>(name) ||
         any_of(missing, [&](const auto& b) { return b.name == name; });
}

const MissingBackend* find_missing(std::string_view name, Device::Kind kind) {
  for (const auto& b : missing_gemm_backends())
    if (b.name == name && parse<Device::Kind>(b.device) == kind) return &b;
  return nullptr;
}

[[noreturn]] void refuse(const std::string& why, const CudaHere& cuda) {
  const Device device = automatic_device(cuda);
  throw NotHere(why, device, automatic_backend(device));
}

template <class Space>
Choice on(const GemmBackend<Space>& backend, int device, const CudaHere& cuda) {
  if (backend.small) on(*backend.small, device, cuda);
  const std::string why = why_not(backend, device);
  if (!why.empty()) refuse(fmt::format("the GEMM backend '{}' cannot run here: {}", backend.name, why), cuda);
  return {&backend, device, {}};
}

Choice choose_cuda(const std::string& name, int device, Precision products, const CudaHere& cuda) {
  const std::string why = why_no_cuda(device, cuda);
  if (!why.empty()) refuse("no CUDA device: " + why, cuda);
  const auto* const backend = name == "auto" ? automatic<Cuda>(products, device) : find<Cuda>(name);
  if (backend) return on(*backend, device, cuda);
  refuse(fmt::format("the GEMM backend '{}' does not exist on CUDA", name), cuda);
}

Choice choose_cpu(const std::string& name, Precision products, const CudaHere& cuda) {
  if (name == "auto") {
    std::string better;
    Choice choice{automatic<Cpu>(products, 0, &better), 0, {}};
    if (!better.empty()) choice.notes.push_back(fmt::format("'{}' was used: {}", choice.name(), better));
    return choice;
  }
  if (const auto* backend = find<Cpu>(name)) return on(*backend, 0, cuda);
  if (const auto* missing = find_missing(name, Device::cpu))
    refuse(fmt::format("the GEMM backend '{}' is not in this build: it needs {}", name, missing->needs), cuda);
  refuse(fmt::format("the GEMM backend '{}' needs a CUDA device{}", name,
                     usable(cuda) ? ", but the CPU was asked for" : ": " + why_none_usable(cuda)),
         cuda);
}

Choice choose_named(const std::string& name, Device device, Precision products, const CudaHere& cuda) {
  if (!is_known(name)) {
    const auto names = known_names();
    const std::string hint = did_you_mean(name, names), wrong = fmt::format("there is no GEMM backend '{}'", name);
    if (hint.empty()) throw UnknownName(fmt::format("{}; there are {}", wrong, fmt::join(names, ", ")), {});
    throw UnknownName(wrong + hint, names);
  }
  if (device.kind == Device::cuda) return choose_cuda(name, device.index, products, cuda);
  if (device.kind == Device::cpu) return choose_cpu(name, products, cuda);
  const auto there = usable(cuda);
  if (there && (name == "auto" || find<Cuda>(name))) return choose_cuda(name, *there, products, cuda);
  Choice choice = choose_cpu(name, products, cuda);
  if (name == "auto") {
    if (!cuda.devices().names.empty() || cuda.devices().driver_fails)
      choice.notes.push_back("the CPU was used: " + why_none_usable(cuda));
  } else if (find<Cuda>(name) || (find_missing(name, Device::cuda) && !cuda.devices().names.empty())) {
    choice.notes.push_back(fmt::format("the CPU's '{}' was used: {}", name, there ? "" : why_none_usable(cuda)));
  }
  return choice;
}

}  // namespace

inline namespace LASOLVE_ABI {

std::string why_no_cuda_device(int index) { return why_no_cuda(index, {}); }

}  // namespace LASOLVE_ABI

Device automatic_device(const CudaHere& cuda) {
  const auto there = usable(cuda);
  return there ? Device{Device::cuda, *there} : Device{Device::cpu, 0};
}

std::string Choice::name() const {
  return std::visit([](const auto* b) { return std::string(b->name); }, backend);
}
Device Choice::device() const {
  return backend.index() == 0 ? Device{Device::cpu, 0} : Device{Device::cuda, cuda_device};
}
std::string Choice::device_name() const { return name_of(device()); }

bool Choice::offers(Precision precision) const {
  return std::visit([=](const auto* b) { return lasolve::offers(*b, precision); }, backend);
}

void require_device(const Device& device) {
  require(device.kind == Device::cuda || device.index == 0, "only CUDA's devices have an index");
}

template <class Space>
const GemmBackend<Space>* coarse_backend(const Options& options, int device) {
  const auto* const name = std::get_if<std::string>(&options.gemm);
  const GemmBackend<Space>* const its = backend_table<Space>().refined();
  return options.accuracy > 0 && name && *name == "auto" && its && why_not(*its, device).empty() ? its : nullptr;
}
template const GemmBackend<Cpu>* coarse_backend(const Options&, int);
template const GemmBackend<Cuda>* coarse_backend(const Options&, int);

Choice choose(const Options& options, const CudaHere& cuda) {
  require_device(options.device);
  require(options.threads >= 0, "the number of threads is negative; 0 means all cores");
  if (const auto* name = std::get_if<std::string>(&options.gemm))
    return choose_named(*name, options.device, products_of(options), cuda);
  if (const auto* own = std::get_if<const GemmBackend<Cpu>*>(&options.gemm)) {
    require(*own != nullptr, "the GEMM backend is a null pointer");
    require(options.device.kind != Device::cuda, "the GEMM backend is one of the CPU, but CUDA was asked for");
    return on(**own, 0, cuda);
  }
  const auto* own = std::get<const GemmBackend<Cuda>*>(options.gemm);
  require(own != nullptr, "the GEMM backend is a null pointer");
  require(options.device.kind != Device::cpu, "the GEMM backend is one of CUDA, but the CPU was asked for");
  const bool named = options.device.kind != Device::automatic;
  const int index = named ? options.device.index : usable(cuda).value_or(-1);
  const std::string why = named ? why_no_cuda(index, cuda) : index < 0 ? why_none_usable(cuda) : "";
  if (!why.empty()) refuse("no CUDA device: " + why, cuda);
  return on(*own, index, cuda);
}

std::vector<std::string> runnable_backends(Device device, Precision precision) {
  if (device.kind == Device::automatic) device = automatic_device();
  std::vector<std::string> names;
  auto collect = [&](const auto& backends) {
    for (const auto* b : backends)
      if (why_not(*b, device.index).empty() && offers(*b, precision)) names.push_back(b->name);
  };
  if (device.kind == Device::cuda)
    collect(gemm_backends<Cuda>());
  else
    collect(gemm_backends<Cpu>());
  return names;
}

std::string does_not_offer(const std::string& backend, Device device, Precision precision) {
  const auto others = runnable_backends(device, precision);
  return fmt::format("the GEMM backend '{}' does not offer products in {}; on {} {}", backend, name_of(precision),
                     name_of(device),
                     others.empty() ? "none does" : fmt::format("these do: {}", fmt::join(others, ", ")));
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  // Optimal string alignment: insertions, deletions and exchanges of one letter, and of two neighbours.
  const auto distance = [&](const std::string& other) {
    const std::size_t width = other.size() + 1;
    std::vector<std::size_t> d((word.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return d[i * width + j]; };
    for (std::size_t i = 0; i <= word.size(); ++i)
      for (std::size_t j = 0; j <= other.size(); ++j) {
        if (i == 0 || j == 0) {
          at(i, j) = i + j;
          continue;
        }
        at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (word[i - 1] != other[j - 1])});
        if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
          at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    return d.back();
  };
  const std::string* best = nullptr;
  if (word.size() > 1)
    for (const auto& name : known)
      if (name.starts_with(word)) return fmt::format("; did you mean '{}'?", name);
  // Of a short word, two letters are most of it.
  std::size_t least = (word.size() <= 4 ? 1 : std::max<std::size_t>(2, word.size() / 3)) + 1;
  for (const auto& name : known) {
    const auto [shorter, longer] = std::minmax({word.size(), name.size()});
    if (longer - shorter >= least) continue;  // so far they are apart at least
    if (const std::size_t its = distance(name); its < least) least = its, best = &name;
  }
  return best ? fmt::format("; did you mean '{}'?", *best) : "";
}

}  // namespace lasolve
