// Bytes as a file, read in every way that must come to the same.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "compress.hpp"
#include "io/io.hpp"

namespace lasolve::io::fuzz {

/// What must never happen.
inline void require_same(const std::string& a, const std::string& b, const char* what) {
  if (a == b) return;
  fmt::print(stderr, "{}:\n{}\n{}\n", what, a, b);
  std::abort();
}

/// A file without a name in a file system, which is made once.
class MemoryFile {
 public:
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.number()); }
  /// Makes this the content, and the end of it the place to write.
  void hold(std::string_view bytes) const {
    if (ftruncate(file_.number(), 0) != 0 || pwrite(file_.number(), bytes.data(), bytes.size(), 0) < 0) std::abort();
    lseek(file_.number(), 0, SEEK_END);
  }

 private:
  Descriptor file_{memfd_create("file", MFD_CLOEXEC)};
};

/// Matrices of at most a million elements are read.
inline ReadOptions options_of(int threads, bool allow_nonfinite, bool decimal_comma = false) {
  static const int bytes_an_element = int(Memory<Cpu>::available() / 1'000'000);
  ReadOptions options{threads, allow_nonfinite, bytes_an_element};
  options.decimal_comma = decimal_comma;
  return options;
}

/// The matrix, bit for bit, and what was said about it.
inline std::string outcome(const MemoryFile& file, const ReadOptions& options) {
  try {
    const MatrixFile read = read_matrix(file.path(), options);
    const MatrixView<const double> A = read.matrix;
    std::string text = fmt::format("{} x {} at {}, symmetric {}\n{}\n", A.rows(), A.cols(), read.place, read.symmetric,
                                   fmt::join(read.notes, "\n"));
    for (std::int64_t j = 0; j < A.cols() && !A.empty(); ++j)
      text.append(reinterpret_cast<const char*>(A.data() + j * A.ld()), std::size_t(A.rows()) * sizeof(double));
    return text;
  } catch (const InputError& error) {
    const std::string text =
        error.what();  // but for the line that converts a file, which is another where it is compressed
    return text.substr(0, text.find("; this "));
  } catch (const MachineError&) {
    return "does not fit";
  }
}

/// What was written is read back, bit for bit.
inline void write_and_read_back(const MemoryFile& file, const ReadOptions& options) {
  MatrixFile read;
  try {
    read = read_matrix(file.path(), options);
  } catch (const std::runtime_error&) {
    return;
  }
  static const MemoryFile copy;
  const auto bits = [](const MatrixView<const double> A) {
    std::string bytes;
    for (std::int64_t j = 0; j < A.cols() && !A.empty(); ++j)
      bytes.append(reinterpret_cast<const char*>(A.data() + j * A.ld()), std::size_t(A.rows()) * sizeof(double));
    return bytes;
  };
  copy.hold("");
  write_matrix(copy.path(), read.matrix);
  require_same(bits(read.matrix), bits(read_matrix(copy.path(), options).matrix), "it is not read back");
}

/// Reads the bytes, and, since that takes its time, in one more way: by several threads, compressed, or as it is
/// written again. The size of the input decides, which keeps a finding a finding.
inline void read_in_two_ways(std::string_view bytes) {
  static const MemoryFile file;
  const bool allow_nonfinite = bytes.size() % 2 == 1, comma = bytes.size() / 6 % 2 == 1;
  file.hold(bytes);
  const std::string once = outcome(file, options_of(1, allow_nonfinite, comma));
  switch (bytes.size() / 2 % 3) {
    case 0:
      return require_same(once, outcome(file, options_of(3, allow_nonfinite, comma)), "threads make a difference");
    case 1:
      return write_and_read_back(file, options_of(1, false));
    default:
      if (bytes.starts_with("\x1F\x8B")) return;  // gzip within gzip is not asked for
      file.hold(test::compressed(bytes, 1));
      return require_same(once, outcome(file, options_of(1, allow_nonfinite, comma)), "compression makes a difference");
  }
}

/// Some of the blank space made long enough that several threads get a part of the file.
inline std::string spread_out(std::string_view bytes) {
  constexpr std::size_t worth_threads = 4 << 16;
  std::string longer;
  for (const char c : bytes) {
    longer += c;
    if (c == '\n' && longer.size() > 40 && longer.size() < worth_threads) longer.append(worth_threads / 8, '\n');
  }
  return longer;
}

}  // namespace lasolve::io::fuzz
