#include "io/io.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "io/matrix_market.hpp"
#include "io/npy.hpp"

namespace lasolve::io {

MatrixFile read_matrix(const std::string& path, const ReadOptions& options) {
  const InputFile file(path);
  try {
    MatrixFile result =
        file.content().starts_with(npy_magic) ? read_npy(file, options) : read_matrix_market(file, options);
    file.require_unchanged();
    return result;
  } catch (const InputError&) {
    file.require_unchanged();  // which explains more
    throw;
  }
}

namespace {

struct Suffixes {
  bool gzip, npy;
};

Suffixes suffixes_of(const std::string& path) {
  std::string_view name = path;
  const bool gzip = name.ends_with(".gz");
  if (gzip) name.remove_suffix(3);
  const bool npy = name.ends_with(".npy");
  if (!npy && !name.ends_with(".mtx")) {
    if (!gzip && Destination(path).is_stream()) return {false, false};
    throw std::invalid_argument(
        fmt::format("cannot write {}: the suffix must be .mtx, .npy, .mtx.gz or .npy.gz", path));
  }
  return {gzip, npy};
}

}  // namespace

void require_matrix_writable(const std::string& path) {
  suffixes_of(path);
  require_writable(path);
}

void write_matrix(const std::string& path, MatrixView<const double> A, const std::vector<std::string>& comments) {
  const auto [gzip, npy] = suffixes_of(path);
  OutputFile file(path, gzip);
  if (npy)
    write_npy(file, A);
  else
    write_matrix_market(file, A, comments);
  file.commit();
}

}  // namespace lasolve::io
