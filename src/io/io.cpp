#include "io/io.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "io/file_format.hpp"
#include "io/foreign.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/table.hpp"

namespace lasolve::io {
namespace {

/// FILE.npz:NAME in its two parts, or FILE.npz.gz:NAME, or -:NAME; a path that has no such part, or that is there with it, as it is.
std::pair<std::string, std::string> file_and_array(const std::string& path) {
  if (path.starts_with("-:")) return {"-", path.substr(2)};
  struct stat status;
  if (stat(path.c_str(), &status) == 0) return {path, ""};
  for (const std::string_view mark : {".npz:", ".npz.gz:"})
    if (const std::size_t at = path.rfind(mark); at != path.npos) {
      const std::size_t colon = at + mark.size() - 1;
      return {path.substr(0, colon), path.substr(colon + 1)};
    }
  return {path, ""};
}

MatrixFile read(const InputFile& file, const std::string& array, const ReadOptions& options) {
  const FileFormat format = format_of(file, options);
  if (!array.empty() && format != FileFormat::npz)
    file.refuse(fmt::format("expected a .npz file with an array {}, found none", io::quoted(array)));
  switch (format) {
    case FileFormat::npy:
      return read_npy(file, options);
    case FileFormat::npz:
      return read_npz(file, array, options);
    case FileFormat::csv:
    case FileFormat::tsv:
    case FileFormat::txt:
      if (options.sharing)
        file.refuse(
            "expected Matrix Market or .npy, of which several processes read a part each, found a table of text; "
            "'lasolve convert FILE --output FILE.npy' converts it");
      return read_table(file, format, options);
    default:
      return read_matrix_market(file, options);
  }
}

}  // namespace

MatrixFile read_matrix(const InputFile& file, const std::string& array, const ReadOptions& options) {
  std::string text = with_line_feeds(file);
  if (text.empty()) return read(file, array, options);
  refuse_foreign(file);
  return read(InputFile(file.name(), std::move(text)), array, options);
}

MatrixFile read_matrix(const std::string& path, const ReadOptions& asked) {
  const auto [name, array] = file_and_array(path);
  ReadOptions options = asked;
  const InputFile file(name, part_of(asked.progress, 0, share_of_decompression));
  if (file.is_compressed()) options.progress = part_of(asked.progress, share_of_decompression, 1);
  try {
    MatrixFile result = read_matrix(file, array, options);
    file.require_unchanged();
    return result;
  } catch (const InputError&) {
    file.require_unchanged();  // which explains more
    throw;
  }
}

namespace {

/// The format that a path says; automatic: it is a stream that says none.
FileFormat format_to_write(const std::string& path) {
  const FileFormat format = format_of_suffix(path);
  const bool stream_without_suffix =
      format == FileFormat::automatic && !path.ends_with(".gz") && Destination(path).is_stream();
  if (format == FileFormat::npz || (format == FileFormat::automatic && !stream_without_suffix))
    throw std::invalid_argument(fmt::format(
        "cannot write {}: the suffix must be .mtx, .npy, .csv, .tsv or .txt, or one of them and .gz", path));
  return format;
}

}  // namespace

void require_matrix_writable(const std::string& path) {
  format_to_write(path);
  require_writable(path);
}

void write_matrix(const std::string& path, MatrixView<const double> A, const std::vector<std::string>& comments,
                  const WriteOptions& options) {
  const FileFormat suffix = format_to_write(path), format = suffix == FileFormat::automatic ? options.format : suffix;
  OutputFile file(path, path.ends_with(".gz"));
  if (format == FileFormat::npy)
    write_npy(file, A, options.is_vector, options.progress);
  else if (format == FileFormat::csv || format == FileFormat::tsv || format == FileFormat::txt)
    write_table(file, format, A, options.progress);
  else
    write_matrix_market(file, A, comments, options.progress);
  file.commit();
}

}  // namespace lasolve::io
