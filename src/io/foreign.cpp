#include "io/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "io/input_error.hpp"
#include "io/matlab.hpp"
#include "io/number.hpp"

namespace lasolve::io {
namespace {

/// A path without .gz, in two parts: its suffix is the second, which may be empty.
std::pair<std::string, std::string> stem_and_suffix(std::string path) {
  if (path.ends_with(".gz")) path.resize(path.size() - 3);
  const std::size_t name = path.rfind('/') + 1, dot = path.rfind('.');  // npos + 1 is 0
  if (dot == path.npos || dot <= name) return {path, ""};
  return {path.substr(0, dot), path.substr(dot)};
}

bool is_there(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

/// The file of a command line; standard input is none.
std::string path_of(const InputFile& file) { return file.name() == "<stdin>" ? "FILE" : file.name(); }

/// Why a name in the line is one, where the file does not say it.
std::string about_names(const std::vector<std::string>& names, const std::string& listing) {
  if (names.empty()) return fmt::format("\n  'A' stands for the name of the array{}", listing);
  return names.size() > 1 ? fmt::format("\n  in it are {}", fmt::join(names, ", ")) : "";
}

[[noreturn]] void refuse_matlab(const InputFile& file) {
  const std::vector<std::string> names = matlab_names(file.content());
  const auto [module, source] = python_source(file);
  refuse_with_python(file, "a MATLAB file",
                     fmt::format("import sys, numpy, scipy.io{}; numpy.save(sys.argv[2], scipy.io.loadmat({})['{}'])",
                                 module, source, names.empty() ? "A" : names.front()),
                     about_names(names, ""));
}

[[noreturn]] void refuse_hdf5(const InputFile& file, bool matlab) {
  const auto [module, source] = python_source(file);
  const std::string listing =
      fmt::format(", as this lists them:\n  python3 -c \"import sys, h5py{}; print(list(h5py.File({})))\" {}", module,
                  source, shell_word(path_of(file)));
  refuse_with_python(file, matlab ? "a MATLAB file of version 7.3" : "an HDF5 file",
                     fmt::format("import sys, numpy, h5py{}; numpy.save(sys.argv[2], h5py.File({})['A'][:]{})", module,
                                 source, matlab ? ".T" : ""),
                     about_names({}, listing));
}

/// The encoding that text seems to have; null: bytes, as ASCII and UTF-8 are.
const char* wide_encoding(std::string_view content) {
  using namespace std::string_view_literals;
  if (content.starts_with("\xFF\xFE\0\0"sv) || content.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) return "UTF-16";
  constexpr std::size_t looked_at = 64, least = 8;
  const std::string_view begin = content.substr(0, looked_at);
  const auto is_text = [&](std::size_t first) {  // in every other byte, with zeros between
    for (std::size_t k = 0; k < begin.size(); ++k)
      if (k % 2 == first ? !(begin[k] >= ' ' && begin[k] < 0x7F) && !is_blank(begin[k]) : begin[k] != '\0')
        return false;
    return begin.size() >= least;
  };
  return is_text(0) ? "UTF-16LE" : is_text(1) ? "UTF-16BE" : nullptr;
}

[[noreturn]] void refuse_wide(const InputFile& file, const char* encoding) {
  const std::string path = path_of(file);
  const auto [stem, suffix] = stem_and_suffix(path);
  const std::string to = shell_word(free_name(stem + "-utf8", suffix)), from = shell_word(path);
  const std::string what = std::string(encoding).substr(0, 6);
  file.refuse(fmt::format("expected text in UTF-8, found {}; this converts it:\n  {}iconv -f {} -t UTF-8 {}>{}", what,
                          file.is_compressed() ? fmt::format("gzip -dc {} | ", from) : "", encoding,
                          file.is_compressed() ? "" : from + " ", to));
}

/// A list of lists, as Python and JSON write them, or MATLAB's rows with semicolons.
void refuse_brackets(const InputFile& file) {
  const auto is_space = [](char c) { return is_blank(c); };
  const char* const first = std::find_if_not(file.begin(), file.end(), is_space);
  if (first == file.end() || *first != '[') return;
  const char* const second = std::find_if_not(first + 1, file.end(), is_space);
  const std::string message = "expected a row of numbers in each line, found a list in brackets";
  if (second == file.end() || *second != '[') file.refuse(first, message);
  const auto [module, source] = python_source(file);
  refuse_with_python(file, "a list of lists in brackets",
                     fmt::format("import sys, numpy, json{}; numpy.save(sys.argv[2], json.load({}))", module,
                                 file.is_compressed() ? source : "open(sys.argv[1])"));
}

}  // namespace

std::string shell_word(const std::string& path) {
  const bool plain = !path.empty() && std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("./_-+=:,@%").find(c) != std::string_view::npos;
  });
  std::string safe = path.starts_with('-') ? "./" + path : path;  // no option
  if (plain) return safe;
  std::string quoted = "'";
  for (const char c : safe) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string free_name(const std::string& path, const std::string& suffix) {
  const std::string stem = stem_and_suffix(path).first;
  std::string name = stem + suffix;
  for (int number = 2; is_there(name); ++number) name = fmt::format("{}-{}{}", stem, number, suffix);
  return name;
}

PythonSource python_source(const InputFile& file) {
  if (file.is_compressed()) return {", gzip", "gzip.open(sys.argv[1])"};
  return {"", "sys.argv[1]"};
}

void refuse_with_python(const InputFile& file, const std::string& found, const std::string& program,
                        const std::string& more) {
  const std::string path = path_of(file);
  file.refuse(
      fmt::format("expected a matrix that lasolve reads, found {}; this converts it:\n  python3 -c \"{}\" {} {}{}",
                  found, program, shell_word(path), shell_word(free_name(path, ".npy")), more));
}

void refuse_foreign(const InputFile& file) {
  const std::string_view content = file.content();
  if (is_matlab_5(content) || is_matlab_4(content)) refuse_matlab(file);
  const bool matlab = content.starts_with("MATLAB 7.3 MAT-file");
  if (matlab || content.starts_with("\x89HDF\r\n\x1A\n")) refuse_hdf5(file, matlab);
  if (content.size() > 2 && content[0] == '\x80' && content[1] >= 2 && content[1] <= 5) {
    const auto [module, source] = python_source(file);
    refuse_with_python(file, "a pickle of Python",
                       fmt::format("import sys, numpy, pickle{}; numpy.save(sys.argv[2], pickle.load({}))", module,
                                   file.is_compressed() ? source : "open(sys.argv[1], 'rb')"),
                       "\n  a pickle can run any program: load none that you do not trust");
  }
  if (const char* const encoding = wide_encoding(content)) refuse_wide(file, encoding);
  refuse_brackets(file);
}

}  // namespace lasolve::io
