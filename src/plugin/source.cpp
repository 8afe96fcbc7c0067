#include "plugin/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/range.hpp"
#include "io/descriptor.hpp"
#include "io/input_error.hpp"
#include "lasolve/matrix.hpp"
#include "plugin/nvcc.hpp"
#include "plugin/program.hpp"
#include "plugin/texts.hpp"

namespace lasolve::plugin {

namespace {

using Path = std::filesystem::path;

[[noreturn]] void fail(const std::string& what, int error) {
  throw MachineError(fmt::format("{}: {}", what, std::strerror(error)));
}

/// A folder with the headers, which is gone with this object. Signals that end the process wait until then.
class Workshop {
 public:
  Workshop() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "lasolve-XXXXXX";
    if (error) fail("cannot use $TMPDIR", error.value());
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, signal);
    sigprocmask(SIG_BLOCK, &ends, &before_);
    if (!mkdtemp(name.data())) {
      const int why = errno;
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      fail("cannot make a folder to compile in", why);
    }
    folder_ = name;
    std::filesystem::create_directory(folder_ / "lasolve", error);
    std::ofstream(folder_ / "lasolve/lasolve.h") << text_of_lasolve_h;
    std::ofstream(folder_ / "lasolve/kernel.h") << text_of_kernel_h;
    std::ofstream(folder_ / "lasolve_plugin_error.cpp") << text_of_plugin_error;
  }
  ~Workshop() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  const Path& folder() const { return folder_; }
  const sigset_t& signals_before() const { return before_; }

 private:
  Path folder_;
  sigset_t before_;
};

/// Whether a source, or what it includes from beside it, has pragmas of OpenMP. Without a flag compilers pass over them.
bool has_openmp(const Path& file, int depth = 0) {
  constexpr int deepest = 8;
  std::ifstream from(file);
  for (std::string line; depth < deepest && std::getline(from, line);) {
    if (line.find("_Pragma(\"omp ") != line.npos) return true;
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || line[begin] != '#') continue;
    line[begin] = ' ';  // "# pragma omp", "#include <x>"
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first == "pragma" && second == "omp") return true;
    if (first == "include" && second.size() > 2 && second.front() == '"' &&
        has_openmp(file.parent_path() / second.substr(1, second.find('"', 1) - 1), depth + 1))
      return true;
  }
  return false;
}
/// By what a compiler of C or C++ is asked for OpenMP; flags that speak of it have the last word.
std::vector<std::string> flags_for_openmp(const std::string& source, const std::vector<std::string>& flags) {
  const bool are_told = any_of(flags, [](const auto& f) { return f.find("openmp") != f.npos; });
  return !are_told && has_openmp(source) ? std::vector<std::string>{"-fopenmp"} : std::vector<std::string>{};
}

/// The compiler and what it is called with.
std::vector<std::string> command_for(const std::string& source, const Path& folder, const Path& library,
                                     int capability) {
  std::vector<std::string> words;
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  std::vector<std::string> link_flags = words_in("LDFLAGS"), libraries = words_in("LDLIBS");
  link_flags.insert(link_flags.end(), libraries.begin(), libraries.end());
  if (language_of(source) == Language::cuda) {
    words = nvcc();
    if (words.empty())
      throw MachineError(
          fmt::format("{} takes nvcc, the compiler of a CUDA toolkit, and there is none in PATH or /usr/local/cuda; "
                      "$CUDACXX names another",
                      source));
    std::vector<std::string> flags = words_in("NVCCFLAGS"), more = words_in("CUDAFLAGS");
    flags.insert(flags.end(), more.begin(), more.end());
    add(nvcc_arguments(folder, architecture_for(capability, built_for()), flags,
                       {source, folder / "lasolve_plugin_error.cpp"}, library, link_flags));
    return words;
  }
  const bool c = language_of(source) == Language::c;
  words = c ? words_in("CC", "cc") : words_in("CXX", "c++");
  const std::vector<std::string> flags = words_in(c ? "CFLAGS" : "CXXFLAGS");
  add({"-O3", "-march=native", "-fPIC", "-shared", "-I", folder});
  add(flags_for_openmp(source, flags));
  add(flags);
  add({source, "-o", library});
  add(link_flags);
  return words;
}

/// The file in memory: its path is good in this process, and in those that it starts, which inherit the descriptor.
std::string kept_in_memory(const Path& file) {
  constexpr int above_those_of_others = 100;
  std::ifstream from(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << from.rdbuf();
  const io::Descriptor made = in_memory(bytes.view(), file.filename().c_str());
  const int memory = made.is_open() ? fcntl(made.number(), F_DUPFD, above_those_of_others) : -1;
  if (memory < 0) fail("cannot keep a compiled kernel in memory", errno);
  return fmt::format("/proc/self/fd/{}", memory);
}

}  // namespace

Language language_of(const std::string& file) {
  const std::string end = Path(file).extension();
  if (end == ".c") return Language::c;
  if (end == ".cpp" || end == ".cc" || end == ".cxx") return Language::cpp;
  return end == ".cu" ? Language::cuda : Language::none;
}

Compiled compiled(const std::string& source, int capability) {
  if (access(source.c_str(), R_OK) != 0)
    throw io::InputError(fmt::format("{}: error: cannot open: {}", source, std::strerror(errno)));
  const Workshop workshop;
  const Path library = workshop.folder() / (Path(source).stem().string() + ".so");
  const auto command = command_for(source, workshop.folder(), library, capability);
  const int code = exit_code_of(start(command, {.out = STDERR_FILENO}, &workshop.signals_before()));
  if (code < 0 || code == 127)
    throw MachineError(fmt::format("{} takes a compiler, and '{}' cannot be run; {} others", source, command[0],
                                   language_of(source) == Language::cuda ? "$CUDACXX names" : "$CC and $CXX name"));
  if (code != 0) throw io::InputError(fmt::format("{}: error: '{}' ended with {}", source, command[0], code));
  Compiled made{kept_in_memory(library), {}};
  const std::string folder = workshop.folder();
  for (const std::string& word : command) {
    if (!word.starts_with(folder))
      made.command.push_back(word);
    else if (made.command.back() == "-I" || made.command.back() == "-o")
      made.command.pop_back();
  }
  return made;
}

std::string version_of(const std::string& compiler) {
  const std::string text = run({compiler, "--version"}, "", false).output;
  return text.substr(0, text.find('\n'));
}

std::string starting_point(const std::string& file) {
  std::string text(language_of(file) == Language::cuda ? text_of_new_kernel_cu : text_of_new_kernel);
  const auto put = [&](const std::string& word, const std::string& in_its_place) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + in_its_place.size()))
      text.replace(at, word.size(), in_its_place);
  };
  put("./FILE", Path(file).has_parent_path() ? file : "./" + file);
  put("\"KERNEL\"", fmt::format("\"{}\"", Path(file).stem().string()));
  return text;
}

}  // namespace lasolve::plugin
