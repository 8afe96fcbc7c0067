#include "io/packed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/range.hpp"
#include "io/foreign.hpp"
#include "io/input_error.hpp"

namespace lasolve::io {
namespace {

using namespace std::string_view_literals;

/// Next to an archive: a name for what is in it.
std::string beside(const InputFile& file, std::string_view member) {
  const std::string path = path_of(file), folder = path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
  const std::string name = folder + std::string(member.substr(member.rfind('/') + 1));
  const std::size_t dot = name.rfind('.');
  return shell_word(free_name(name, dot == name.npos || dot < folder.size() ? "" : name.substr(dot)));
}

/// The line by which a program unpacks a file, whose name tells of it or not.
std::string line_of(const InputFile& file, const std::string& program, std::string_view suffix) {
  const std::string path = path_of(file);
  const bool has_suffix = path.ends_with(suffix);
  const std::string plain = has_suffix ? path.substr(0, path.size() - suffix.size()) : path + "-plain";
  return fmt::format("{} -dc {} >{}", program, shell_word(path), beside(file, plain));
}

[[noreturn]] void refuse_with_line(const InputFile& file, const std::string& found, const std::string& line) {
  file.refuse(fmt::format("expected a matrix that lasolve reads, found {}; this unpacks it:\n  {}", found, line));
}

void refuse_compressed(const InputFile& file) {
  const struct {
    std::string_view magic;
    const char *program, *suffix;
  } kinds[] = {{"BZh"sv, "bzip2", ".bz2"},
               {"\xFD"
                "7zXZ\0"sv,
                "xz", ".xz"},
               {"\x28\xB5\x2F\xFD"sv, "zstd", ".zst"}};
  for (const auto& kind : kinds) {
    if (!file.content().starts_with(kind.magic)) continue;
    refuse_with_line(file, fmt::format("what {} made", kind.program),
                     file.is_compressed() ? line_of(file, "gzip", ".gz") : line_of(file, kind.program, kind.suffix));
  }
}

/// The name of the first file in a tar archive; empty where there is none.
std::string first_in_tar(std::string_view content) {
  constexpr std::size_t block = 512, size_at = 124, size_digits = 11, type_at = 156, longest_name = 100;
  for (std::size_t at = 0; at + block <= content.size() && content[at] != '\0';) {
    const std::string_view header = content.substr(at, block);
    const char type = header[type_at];
    if (type == '0' || type == '\0') return std::string(header.substr(0, std::min(header.find('\0'), longest_name)));
    std::size_t size = 0;
    for (const char c : header.substr(size_at, size_digits)) {
      if (c < '0' || c > '7') return "";
      size = 8 * size + std::size_t(c - '0');
    }
    at += block + (size + block - 1) / block * block;
  }
  return "";
}

void refuse_tar(const InputFile& file) {
  constexpr std::size_t mark_at = 257;
  if (file.content().size() <= mark_at || !file.content().substr(mark_at).starts_with("ustar")) return;
  const std::string name = first_in_tar(file.content());
  if (name.empty()) file.refuse("expected a matrix, found a tar archive without a file");
  refuse_with_line(file, "a tar archive with " + printable(name),
                   fmt::format("tar -xOf {} {} >{}", shell_word(path_of(file)), shell_word(name), beside(file, name)));
}

}  // namespace

void refuse_packed(const InputFile& file) {
  refuse_compressed(file);
  refuse_tar(file);
}

void refuse_zip_without_arrays(const InputFile& file, const std::vector<ZipMember>& members) {
  const auto has = [&](std::string_view name) {
    return any_of(members, [&](const ZipMember& m) { return m.name == name; });
  };
  const auto is_array = [](const ZipMember& m) { return m.name.ends_with(".npy"); };
  if (members.empty() || any_of(members, is_array)) return;
  if (has("[Content_Types].xml") || has("content.xml"))
    file.refuse("expected a matrix that lasolve reads, found a workbook of a spreadsheet: save its sheet as CSV");
  const auto* const first = find_in(members, [](const auto& m) { return !m.name.ends_with('/'); });
  const std::string name = !first ? "" : first->name;
  if (name.empty()) file.refuse("expected a .npz file with an array, found a zip archive without a file");
  refuse_with_line(file, "a zip archive with " + printable(name),
                   file.is_compressed() ? line_of(file, "gzip", ".gz")
                                        : fmt::format("unzip -p {} {} >{}", shell_word(path_of(file)), shell_word(name),
                                                      beside(file, name)));
}

}  // namespace lasolve::io
