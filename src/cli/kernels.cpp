#include "cli/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/clock_watch.hpp"
#include "cli/words.hpp"
#include "io/input_error.hpp"
#include "own/backends.hpp"
#include "own/plugin.hpp"
#include "own/source.hpp"

namespace lasolve::cli {

const Option patience_option{
    "patience", 0, "SECONDS", "60", {}, "after which a backend that does not come back from a small product is wrong"};

namespace {

/// A kernel from a file, as it was named.
struct Loaded {
  std::string word, library, name;
};
std::vector<Loaded>& loaded() {
  static std::vector<Loaded> all;
  return all;
}

bool is_file(const std::string& word) {
  return word.find('/') != word.npos || word.ends_with(".so") || own::language_of(word) != own::Language::none;
}

bool is_taken(const std::string& name) {
  const auto named_so = [&](const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& b) { return name == b->name; });
  };
  return name == "all" || name == "auto" || named_so(gemm_backends<Cpu>()) || named_so(gemm_backends<Cuda>());
}

/// Its own name; where that is another's, with the file.
std::string name_for(const std::string& name, const std::string& word) {
  return is_taken(name) ? fmt::format("{} ({})", name, word) : name;
}

/// The name of the backend in a file.
std::string load(const std::string& word, int patience) {
  const auto& all = loaded();
  const auto before = std::find_if(all.begin(), all.end(), [&](const Loaded& l) { return l.word == word; });
  if (before != all.end()) return before->name;
  const own::Language language = own::language_of(word);
  if (language == own::Language::cuda)
    throw UsageError(
        fmt::format("{}: own kernels in CUDA are not there yet; those for the CPU are, in C and C++", word));
  const std::string library = language == own::Language::none ? word : own::compiled(word);
  const lasolve_kernel kernel = own::load_plugin(library, word, patience);
  if (!bench::ClockWatch::is_true()) throw io::InputError(fmt::format("{}: error: it changes the clock", word));
  std::string name = name_for(kernel.name, word);
  own::add_backend(kernel, name);
  loaded().push_back({word, library, name});
  return name;
}

}  // namespace

std::vector<std::string> backends_named(const std::string& list, int patience) {
  std::vector<std::string> names = names_in(list);
  for (std::string& name : names)
    if (is_file(name)) name = load(name, patience);
  return names;
}

bool is_own(const std::string& name) { return own::adapter_of(name) != nullptr; }

Device place_of(const std::vector<std::string>& backends, Device asked) {
  const bool some_are_own = std::any_of(backends.begin(), backends.end(), is_own);
  return asked.kind == Device::automatic && some_are_own ? Device{Device::cpu, 0} : asked;
}

std::vector<std::string> verifying_command() {
  std::vector<std::string> words = {"/proc/self/exe", "bench", "verify", std::to_string(loaded().size())};
  for (const Loaded& l : loaded()) words.insert(words.end(), {l.name, l.library});
  return words;
}

std::vector<std::string> loaded_as_told(const std::vector<std::string>& words) {
  require(!words.empty(), "these are not the words of a verification");
  const std::size_t end = 1 + 2 * std::stoul(words[0]);
  require(words.size() >= end, "these are not the words of a verification");
  constexpr int patience = 60;  // the parent has more of it, or less
  for (std::size_t w = 1; w < end; w += 2)
    own::add_backend(own::load_plugin(words[w + 1], words[w], patience), words[w]);
  return {words.begin() + std::ptrdiff_t(end), words.end()};
}

void say_what_is_wrong(const Choice& choice, const bench::Fault& fault) {
  fmt::print(stderr, "lasolve: {} on {} is wrong in {}: {}\n{}", choice.name(), choice.device(),
             name_of(fault.precision), bench::what_is_wrong(fault), bench::where_it_is_wrong(fault, "  "));
}

std::vector<std::string> those_that_are_right(const std::vector<std::string>& backends, const Options& options,
                                              int patience) {
  std::vector<std::string> right;
  for (const auto& backend : backends) {
    bool is_right = true;
    if (is_own(backend)) {
      Options its = options;
      its.gemm = backend;
      bench::Task task{choose(its), {}, {}, options.threads};
      const Precision products = find_solve_precision(options.precision)->products;
      for (const Precision p : {products, Precision::fp64})  // which takes the place of a coarser one that does not do
        if (task.choice.offers(p) && std::count(task.precisions.begin(), task.precisions.end(), p) == 0)
          task.precisions.push_back(p);
      for (const auto& verdict : bench::verify_apart(task, verifying_command(), patience))
        if (verdict.fault) say_what_is_wrong(task.choice, *verdict.fault), is_right = false;
    }
    if (is_right) right.push_back(backend);
  }
  return right;
}

std::string adapter_note(const std::string& backend) {
  own::Adapter* const adapter = own::adapter_of(backend);
  return adapter ? adapter->take_cost().in_words() : "";
}

}  // namespace lasolve::cli
