#include "io/file_format.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "io/npy.hpp"
#include "io/table.hpp"
#include "io/zip.hpp"

namespace lasolve::io {
namespace {

[[noreturn]] void refuse_with_conversion(const InputFile& file, const char* found, const std::string& code) {
  file.refuse(
      fmt::format("expected a matrix that lasolve reads, found {}; this converts it:\n"
                  "  python3 -c \"{}\"",
                  found, code));
}

/// MATLAB's version 4 has no magic number. It begins with five integers: a type in decimal digits, rows, columns, whether it is complex,
/// and the length of the name with its null byte (MAT-File Format, level 4).
bool is_matlab_4(std::string_view content) {
  std::uint32_t header[5];
  if (content.size() < sizeof header) return false;
  std::memcpy(header, content.data(), sizeof header);
  const auto [type, rows, columns, complex, name_bytes] = header;
  return type <= 52 && type % 10 <= 2 && rows > 0 && columns > 0 && complex <= 1 && name_bytes > 1 &&
         name_bytes <= 64 && content.size() >= sizeof header + name_bytes &&
         content[sizeof header + name_bytes - 1] == 0;
}

/// Formats whose conversion takes one line. Their files hold several arrays, of which the first name is a guess.
void refuse_foreign(const InputFile& file) {
  const std::string_view content = file.content();
  const std::string name = file.name() == "<stdin>" ? "FILE" : file.name();
  if (content.starts_with("MATLAB 5.0 MAT-file") || is_matlab_4(content))
    refuse_with_conversion(
        file, "a MATLAB file",
        fmt::format("import numpy, scipy.io; numpy.save('A.npy', scipy.io.loadmat('{}')['A'])", name));
  const bool matlab = content.starts_with("MATLAB 7.3 MAT-file");
  if (matlab || content.starts_with("\x89HDF\r\n\x1A\n"))
    refuse_with_conversion(
        file, matlab ? "a MATLAB file of version 7.3" : "an HDF5 file",
        fmt::format("import numpy, h5py; numpy.save('A.npy', h5py.File('{}')['A'][:]{})", name, matlab ? ".T" : ""));
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
    file.refuse(
        fmt::format("expected text in UTF-8, found UTF-16; this converts it:\n"
                    "  iconv -f UTF-16 -t UTF-8 {} >A.csv",
                    name));
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

FileFormat format_of(const InputFile& file, FileFormat asked) {
  const std::string_view content = file.content();
  if (content.starts_with(npy_magic)) return FileFormat::npy;
  if (is_zip(content)) return FileFormat::npz;
  refuse_foreign(file);
  if (content.starts_with('%') || format_of_suffix(file.name()) == FileFormat::matrix_market)
    return FileFormat::matrix_market;
  const FileFormat table = format_of_table(file);
  return table == FileFormat::tsv && asked == FileFormat::txt ? asked : table;
}

}  // namespace lasolve::io
