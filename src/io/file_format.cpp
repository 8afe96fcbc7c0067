#include "io/file_format.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "io/foreign.hpp"
#include "io/npy.hpp"
#include "io/table.hpp"
#include "io/zip.hpp"

namespace lasolve::io {
namespace {

/// Whether a first line with % is the banner, or meant for it. In a table it is a comment.
bool is_matrix_market(const InputFile& file) {
  constexpr std::size_t looked_at = 200;
  const std::string_view content = file.content();
  const FileFormat suffix = format_of_suffix(file.name());
  if (suffix == FileFormat::matrix_market) return true;
  const std::string_view text = content.substr(std::min(content.find_first_not_of(" \t\r\n"), content.size()));
  if (!text.starts_with('%')) return false;
  if (suffix == FileFormat::automatic && content.starts_with("%%")) return true;
  std::string line(text.substr(0, std::min(text.find('\n'), looked_at)));
  for (char& c : line) c = c >= 'A' && c <= 'Z' ? char(c | 0x20) : c;
  return line.find("market") != line.npos;
}

}  // namespace

FileFormat format_of_suffix(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  using enum FileFormat;
  for (const auto& [suffix, format] :
       {std::pair{".mtx", matrix_market}, {".npy", npy}, {".npz", npz}, {".csv", csv}, {".tsv", tsv}, {".txt", txt}})
    if (name.ends_with(suffix)) return format;
  return FileFormat::automatic;
}

FileFormat format_of(const InputFile& file, const ReadOptions& options) {
  const std::string_view content = file.content();
  if (content.starts_with(npy_magic)) return FileFormat::npy;
  if (is_zip(content)) return FileFormat::npz;
  refuse_foreign(file);
  if (is_matrix_market(file)) return FileFormat::matrix_market;
  const FileFormat table = format_of_table(file, options.decimal_comma);
  return table == FileFormat::tsv && options.format == FileFormat::txt ? FileFormat::txt : table;
}

std::string with_line_feeds(const InputFile& file) {
  const std::string_view content = file.content();
  const bool is_binary = content.starts_with(npy_magic) || is_zip(content);
  if (is_binary || content.find('\n') != content.npos || content.find('\r') == content.npos) return "";
  std::string text(content);
  std::replace(text.begin(), text.end(), '\r', '\n');
  return text;
}

}  // namespace lasolve::io
