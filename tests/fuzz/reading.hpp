// What comes of reading a file, or bytes in memory, in a form that can be compared.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "io/input_file.hpp"
#include "io/io.hpp"
#include "lasolve/memory.hpp"

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

/// There is none for matrices of more than 32,768 elements, and the machine is not asked how much it has.
inline constexpr MemorySource little_memory = {
    [](void*, std::size_t bytes, void*) { return bytes > (256 << 10) + 512 ? nullptr : std::malloc(bytes); },
    [](void*, void* memory, std::size_t, void*) { std::free(memory); }, nullptr};

inline std::string bits(MatrixView<const double> A) {
  std::string bytes;
  for (std::int64_t j = 0; j < A.cols() && !A.empty(); ++j)
    bytes.append(reinterpret_cast<const char*>(A.data() + j * A.ld()), std::size_t(A.rows()) * sizeof(double));
  return bytes;
}

/// The matrix, bit for bit, and what was said about it.
template <class Read>
std::string outcome(Read read) {
  try {
    const MatrixFile it = read();
    return fmt::format("{} x {} at {}, symmetric {}\n{}\n", it.matrix.rows(), it.matrix.cols(), it.place, it.symmetric,
                       fmt::join(it.notes, "\n")) +
           bits(it.matrix);
  } catch (const InputError& error) {
    const std::string text = error.what();  // but for what to do then, which is another where a file is compressed
    return text.substr(0, text.find(';'));
  } catch (const MachineError&) {
    return "does not fit";
  }
}

}  // namespace lasolve::io::fuzz
