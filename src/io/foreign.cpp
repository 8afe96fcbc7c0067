#include "io/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/range.hpp"
#include "io/input_error.hpp"
#include "io/matlab.hpp"
#include "io/number.hpp"
#include "io/packed.hpp"
#include "io/utf8.hpp"

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

/// What saves an array of Python, which may be sparse.
std::string save(const std::string& array) {
  return fmt::format("A = {}; numpy.save(sys.argv[2], getattr(A, 'toarray', lambda: A)())", array);
}

/// Why a name in the line is one, where the file does not say it.
std::string about_names(const std::vector<std::string>& names, const std::string& listing) {
  if (names.empty()) return fmt::format("\n  'A' stands for the name of the array{}", listing);
  return names.size() > 1 ? fmt::format("\n  in it are {}", fmt::join(names, ", ")) : "";
}

/// What saves an array that scipy has loaded as `loaded`; of a struct its field A, as the SuiteSparse collection has it, or else the
/// first.
std::string save_of(const MatlabArray& array, const std::string& loaded) {
  const std::string item = fmt::format("{}['{}']", loaded, array.name);
  if (array.fields.empty()) return fmt::format("numpy.save(sys.argv[2], {}{})", item, array.sparse ? ".toarray()" : "");
  const bool has_A = contains(array.fields, "A");
  return save(fmt::format("{}['{}'][0, 0]", item, has_A ? "A" : array.fields.front()));
}

[[noreturn]] void refuse_matlab(const InputFile& file) {
  std::vector<std::string> names;
  const std::vector<MatlabArray> arrays = matlab_arrays(file.content());
  for (const MatlabArray& array : arrays) {
    if (array.fields.empty()) names.push_back(array.name);
    for (const std::string& field : array.fields) names.push_back(array.name + "." + field);
  }
  const auto [module, source] = python_source(file);
  const MatlabArray first = arrays.empty() ? MatlabArray{"A"} : arrays.front();
  refuse_with_python(file, "a MATLAB file",
                     fmt::format("import sys, numpy, scipy.io{}; {}", module,
                                 save_of(first, fmt::format("scipy.io.loadmat({})", source))),
                     about_names(names, ""));
}

[[noreturn]] void refuse_hdf5(const InputFile& file, bool matlab) {
  const auto [module, source] = python_source(file);
  const std::string listing =
      fmt::format(", as this lists them:\n  python3 -c \"import sys, h5py{}; h5py.File({}).visit(print)\" {}", module,
                  source, shell_word(path_of(file)));
  const bool sparse = matlab && file.content().find("MATLAB_sparse") != std::string_view::npos;
  const std::string program =
      sparse ? fmt::format(
                   "import sys, numpy, h5py, scipy.sparse{}; A = h5py.File({})['A']; numpy.save(sys.argv[2], "
                   "scipy.sparse.csc_matrix((A['data'][:], A['ir'][:], A['jc'][:]), "
                   "(int(A.attrs['MATLAB_sparse']), A['jc'].size - 1)).toarray())",
                   module, source)
             : fmt::format("import sys, numpy, h5py{}; numpy.save(sys.argv[2], h5py.File({})['A'][:]{})", module,
                           source, matlab ? ".T" : "");
  refuse_with_python(file,
                     sparse   ? "a MATLAB file of version 7.3 with a sparse matrix"
                     : matlab ? "a MATLAB file of version 7.3"
                              : "an HDF5 file",
                     program, about_names({}, listing));
}

/// Real matrices; of a symmetric one the file has a triangle.
void refuse_harwell_boeing(const InputFile& file) {
  std::string_view rest = file.content();
  for (int line = 0; line < 2; ++line) rest = rest.substr(std::min(rest.find('\n'), rest.size() - 1) + 1);
  const auto is = [&](std::size_t k, std::string_view letters) {
    return rest.size() > k && letters.find(rest[k]) != letters.npos;
  };
  if (!is(0, "RCPIrcpi") || !is(1, "SUHZRsuhzr") || !is(2, "AEae") || !is(3, " ") || !is(13, " ")) return;
  const std::string message = "a Harwell-Boeing file";
  const bool symmetric = is(1, "Ss");
  if (!is(0, "Rr") || !(symmetric || is(1, "Uu")) || !is(2, "Aa"))
    file.refuse(fmt::format("expected a matrix that lasolve reads, found {} of type {}", message, rest.substr(0, 3)));
  const auto [module, source] = python_source(file);
  const std::string opened = file.is_compressed() ? "gzip.open(sys.argv[1], 'rt')" : "open(sys.argv[1])";
  // scipy reads one that is said to be unsymmetric.
  const std::string text =
      symmetric ? fmt::format("io.StringIO({0}.read().replace('\\n{1}', '\\nRUA'))", opened, rest.substr(0, 3))
                : opened;
  refuse_with_python(file, message,
                     fmt::format("import sys, io, numpy, scipy.io{}; A = scipy.io.hb_read({}).toarray(); "
                                 "numpy.save(sys.argv[2], A{})",
                                 module, text, symmetric ? " + numpy.tril(A, -1).T" : ""));
}

bool is_control(unsigned char c) { return c == 0x7F || (c < ' ' && !(c >= '\t' && c <= '\r')); }

/// Whether many bytes are such that no text has: controls, and what is no UTF-8. Text in an older encoding has no controls.
bool is_no_text(std::string_view bytes) {
  constexpr std::size_t one_in = 4;
  std::size_t count = 0;
  for (std::size_t k = 0; k < bytes.size();) {
    const auto c = static_cast<unsigned char>(bytes[k]);
    const std::size_t length = is_control(c) ? 0 : first_character(bytes.substr(k)).bytes;
    count += length == 0;
    k += std::max<std::size_t>(length, 1);
  }
  const auto is_its = [](char c) { return is_control(static_cast<unsigned char>(c)); };
  return count * one_in > bytes.size() && any_of(bytes, is_its);
}

/// Numbers as they are in memory. A square matrix of them is likely to be meant where the size is that of one.
void refuse_raw(const InputFile& file) {
  constexpr std::size_t looked_at = 1024;
  if (!is_no_text(file.content().substr(0, looked_at))) return;
  const std::size_t size = file.content().size();
  for (const auto& [bytes, type] : {std::pair<std::size_t, const char*>{8, "f8"}, {4, "f4"}}) {
    const auto n = std::size_t(std::llround(std::sqrt(double(size) / double(bytes))));
    if (n == 0 || n * n * bytes != size) continue;
    const auto [module, source] = python_source(file);
    const std::string read = file.is_compressed() ? fmt::format("numpy.frombuffer({}.read(), '{}')", source, type)
                                                  : fmt::format("numpy.fromfile({}, '{}')", source, type);
    refuse_with_python(
        file, fmt::format("{} bytes that are no text", size),
        fmt::format("import sys, numpy{}; numpy.save(sys.argv[2], {}.reshape({}, {}))", module, read, n, n),
        fmt::format("\n  if they are a matrix in fp{}, row by row", 8 * bytes));
  }
  file.refuse(fmt::format(
      "expected text or a .npy file, found {} bytes that are neither, nor a square matrix in fp64 or fp32", size));
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

/// A list of numbers, or of lists of them, as Python, NumPy and JSON write them. MATLAB writes rows with semicolons.
void refuse_brackets(const InputFile& file) {
  constexpr std::string_view of_numpy = "array(";
  const auto is_space = [](char c) { return is_blank(c); };
  const char* first = std::find_if_not(file.begin(), file.end(), is_space);
  if (std::string_view(first, file.end()).starts_with(of_numpy)) first += of_numpy.size();
  if (first == file.end() || *first != '[') return;
  const std::string_view rest(first, file.end());
  const std::size_t inner = std::min(rest.find_first_not_of("[ \t\r\n"), rest.size());
  const auto brackets = std::count(rest.begin(), rest.begin() + std::ptrdiff_t(inner), '[');
  const std::size_t left_out = rest.find("...");
  if (left_out != rest.npos)
    file.refuse(first + left_out,
                "expected all numbers, found a list from which they are left out: numpy.save writes all");
  if (brackets > 2 || rest.find(';') != rest.npos)
    file.refuse(first, "expected a row of numbers in each line, found a list in brackets");
  const auto [module, source] = python_source(file);
  refuse_with_python(
      file, brackets == 2 ? "a list of lists in brackets" : "a list in brackets",
      fmt::format("import sys, numpy{}; t = {}.read().replace(',', ' '); t = t[t.index('['):].replace('[', ' '); "
                  "numpy.save(sys.argv[2], [[*map(float, r.split())] for r in t.split(']')[:-{}]])",
                  module, file.is_compressed() ? "gzip.open(sys.argv[1], 'rt')" : "open(sys.argv[1])", brackets));
}

}  // namespace

std::string path_of(const InputFile& file) { return file.name() == "<stdin>" ? "FILE" : file.name(); }

std::string shell_word(const std::string& path) { return shell_quoted(path.starts_with('-') ? "./" + path : path); }

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("./_-+=:,@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
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
  refuse_packed(file);
  if (is_matlab_5(content) || is_matlab_4(content)) refuse_matlab(file);
  const bool matlab = content.starts_with("MATLAB 7.3 MAT-file");
  if (matlab || content.starts_with("\x89HDF\r\n\x1A\n")) refuse_hdf5(file, matlab);
  if (content.size() > 2 && content[0] == '\x80' && content[1] >= 2 && content[1] <= 5) {
    const auto [module, source] = python_source(file);
    refuse_with_python(
        file, "a pickle of Python",
        fmt::format("import sys, numpy, pickle{}; {}", module,
                    save(fmt::format("pickle.load({})", file.is_compressed() ? source : "open(sys.argv[1], 'rb')"))),
        "\n  a pickle can run any program: load none that you do not trust");
  }
  if (const char* const encoding = wide_encoding(content)) refuse_wide(file, encoding);
  refuse_raw(file);
  refuse_harwell_boeing(file);
  refuse_brackets(file);
}

}  // namespace lasolve::io
