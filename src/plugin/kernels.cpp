#include "plugin/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/choose.hpp"
#include "core/cuda_devices.hpp"
#include "core/range.hpp"
#include "io/input_error.hpp"
#include "io/input_file.hpp"
#include "plugin/backends.hpp"
#include "plugin/nvcc.hpp"
#include "plugin/plugin.hpp"
#include "plugin/source.hpp"

namespace lasolve::plugin {

namespace {

/// A kernel from a file, as it was named. `about`: JSON of what it was made of.
struct Loaded {
  std::string word, library, name, about;
};
std::vector<Loaded>& loaded() {
  static std::vector<Loaded> all;
  return all;
}

std::vector<LeftOut>& left_out() {
  static std::vector<LeftOut> all;
  return all;
}

bool is_file(const std::string& word) {
  return word.find('/') != word.npos || word.ends_with(".so") || language_of(word) != Language::none;
}

bool is_taken(const std::string& name) {
  const auto named_so = [&](const auto& all) { return any_of(all, [&](const auto& b) { return name == b->name; }); };
  return name == "all" || name == "auto" || named_so(gemm_backends<Cpu>()) || named_so(gemm_backends<Cuda>());
}

/// Its own name; where that is another's, with the file.
std::string name_for(const std::string& name, const std::string& word) {
  return is_taken(name) ? fmt::format("{} ({})", name, word) : name;
}

/// The CUDA device that a plugin kernel would run on.
struct Target {
  Device device;
  std::string why_none;
  int capability = 0;  // 0: there is none
};
Target target_of(Device asked) {
  const Device first = asked.kind == Device::cuda ? asked : automatic_device();
  const int index = first.kind == Device::cuda ? first.index : 0;
  Target target{{Device::cuda, index}, why_no_cuda_device(index)};
  if (target.why_none.empty()) target.capability = cuda_devices().capabilities.at(std::size_t(index));
  return target;
}

[[noreturn]] void refuse_on_cpu(const std::string& word) {
  throw io::UsageError(fmt::format("{} is a kernel for CUDA, and --device says cpu", word));
}

/// The library of a source; without a device, too, so that what is wrong with it is seen.
Compiled made_of(const std::string& word, Device asked) {
  switch (language_of(word)) {
    case Language::none:
      return {word, {}};
    case Language::c:
    case Language::cpp:
      return compiled(word);
    case Language::cuda:
      break;
  }
  if (asked.kind == Device::cpu) refuse_on_cpu(word);
  const Target target = target_of(asked);
  if (target.capability == 0 && nvcc().empty())
    throw MachineError(fmt::format("{} takes a CUDA device: {}", word, target.why_none));
  return compiled(word, target.capability);
}

/// What its device has to do with where it is to run, and with the machine.
void require_possible(const lasolve_kernel& kernel, const std::string& word, Device asked) {
  const bool source = language_of(word) == Language::cuda;
  if (source && kernel.memory != LASOLVE_CUDA)
    throw io::InputError(fmt::format("{}: error: expected kernel.memory = LASOLVE_CUDA in a source of CUDA", word));
  if (kernel.memory != LASOLVE_CUDA) return;
  if (asked.kind == Device::cpu) refuse_on_cpu(word);
  if (const Target target = target_of(asked); !target.why_none.empty())
    throw MachineError(
        fmt::format("{} {}, but it takes a CUDA device: {}", word, source ? "compiles" : "loads", target.why_none));
}

/// FNV-1a (Fowler, Noll & Vo) of the bytes of a file.
std::string hash_of(const std::string& file) {
  std::ifstream from(file, std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::istreambuf_iterator<char> at(from), end; at != end; ++at)
    hash = (hash ^ std::uint64_t(std::uint8_t(*at))) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

/// What a result has to say of it, so that it is known which kernel it was.
std::string about(const std::string& word, const std::string& name, const Compiled& made) {
  std::error_code error;
  nlohmann::ordered_json json = {
      {"name", name}, {"file", std::filesystem::absolute(word, error).string()}, {"hash", hash_of(word)}};
  if (!made.command.empty()) {
    json["compiler"] = version_of(made.command.front());
    json["command"] = fmt::format("{}", fmt::join(made.command, " "));
    json["library_hash"] = hash_of(made.library);  // of what it includes, too
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The name of the backend in a file.
std::string load(const std::string& word, int patience, Device asked, const Notes& note_of) {
  const auto& all = loaded();
  const auto* const before = find_in(all, [&](const Loaded& l) { return l.word == word; });
  if (before) return before->name;
  const Compiled made = made_of(word, asked);
  const auto [kernel, why_failed, note] = load_plugin(made.library, word, patience);
  if (!note.empty()) note_of(fmt::format("{}: {}", word, note));
  require_possible(kernel, word, asked);
  std::string name = name_for(kernel.name, word);
  add_backend(kernel, name, why_failed);
  loaded().push_back({word, made.library, name, about(word, name, made)});
  return name;
}

bool is_left_out(const std::string& word) {
  const auto& all = left_out();
  return any_of(all, [&](const LeftOut& l) { return l.word == word; });
}

/// Where some words of a list are one file.
void refuse_commas(const std::vector<std::string>& words) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string file = words[first];
    for (std::size_t w = first + 1; w < words.size(); ++w)
      if (file += "," + words[w]; io::is_regular_file(file))
        throw io::UsageError(fmt::format("--gemm takes no file with a comma in its path: {}", file));
  }
}

/// The first plugin kernel of a device.
const std::string* first_on(Device::Kind kind, const std::vector<std::string>& backends) {
  return find_in(backends, [=](const auto& name) { return device_kind_of(name) == kind; });
}

}  // namespace

std::vector<std::string> backends_named(const std::vector<std::string>& words, int patience, Device asked,
                                        const Notes& note_of) {
  refuse_commas(words);
  std::vector<std::string> names;
  std::exception_ptr last;
  const auto leave_out = [&](const std::string& word, const std::exception& e, bool machine) {
    last = std::current_exception();
    left_out().push_back({word, e.what(), machine});
  };
  for (const std::string& word : words) try {
      if (is_file(word) && is_left_out(word)) continue;
      names.push_back(is_file(word) ? load(word, patience, asked, note_of) : word);
    } catch (const io::InputError& e) {
      leave_out(word, e, false);
    } catch (const MachineError& e) {
      leave_out(word, e, true);
    }
  if (names.empty() && last) std::rethrow_exception(last);
  return names;
}

const std::vector<LeftOut>& kernels_left_out() { return left_out(); }

std::string library_of(const std::string& name) {
  const auto& all = loaded();
  const auto* const its = find_in(all, [&](const Loaded& l) { return l.name == name; });
  return !its ? "" : its->library;
}

bool is_plugin(const std::string& name) { return device_kind_of(name).has_value(); }

Device device_for(const std::vector<std::string>& backends, Device asked) {
  const std::string *const on_cpu = first_on(Device::cpu, backends), *const on_cuda = first_on(Device::cuda, backends);
  if (on_cpu && on_cuda)
    throw io::UsageError(fmt::format("'{}' is a kernel for the CPU and '{}' one for CUDA: they run in different places",
                                     *on_cpu, *on_cuda));
  if (asked.kind != Device::automatic) return asked;
  return on_cpu ? Device{Device::cpu, 0} : on_cuda ? target_of(asked).device : asked;
}

std::vector<std::string> loaded_kernels() {
  std::vector<std::string> all;
  for (const Loaded& l : loaded()) all.push_back(l.about);
  return all;
}

std::vector<std::string> loaded_in_words() {
  std::vector<std::string> words = {std::to_string(loaded().size()), std::to_string(left_out().size())};
  for (const Loaded& l : loaded()) words.insert(words.end(), {l.word, l.library, l.name, l.about});
  for (const LeftOut& l : left_out()) words.insert(words.end(), {l.word, l.why, l.for_want_of_machine ? "1" : "0"});
  return words;
}

std::size_t load_from_words(const std::vector<std::string>& words) {
  require(words.size() > 1, "these are not the words of what is loaded");
  const std::size_t behind = 2 + 4 * std::stoul(words[0]), end = behind + 3 * std::stoul(words[1]);
  require(words.size() >= end, "these are not the words of what is loaded");
  constexpr int patience = 60;  // the parent has more of it, or less
  for (std::size_t w = behind; w < end; w += 3) left_out().push_back({words[w], words[w + 1], words[w + 2] == "1"});
  for (std::size_t w = 2; w < behind; w += 4) {
    const std::string &word = words[w], &library = words[w + 1], &name = words[w + 2];
    const auto [kernel, why_failed, note] = load_plugin(library, name, patience);
    add_backend(kernel, name, why_failed);
    loaded().push_back({word, library, name, words[w + 3]});
  }
  return end;
}

}  // namespace lasolve::plugin
