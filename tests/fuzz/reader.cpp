// Bytes as a file of any format, read in every way that must come to the same.
#include <functional>
#include <utility>

#include "compress.hpp"
#include "reading.hpp"

using namespace lasolve;
using namespace lasolve::io;
using namespace lasolve::io::fuzz;

namespace {

/// What was written is read back, bit for bit.
void write_and_read_back(const MemoryFile& file, FileFormat format) {
  MatrixFile read;
  try {
    read = read_matrix(file.path());
  } catch (const std::runtime_error&) {
    return;
  }
  static const MemoryFile copy;
  copy.hold("");
  write_matrix(copy.path(), read.matrix, {}, {.format = read.matrix.view().empty() ? FileFormat::npy : format});
  require_same(bits(read.matrix), bits(read_matrix(copy.path()).matrix), "it is not read back");
}

/// Reads the bytes where they are, and some in one more way, which takes up to a hundred times as long: by several threads, from a file,
/// compressed, or as they are written again. A hash of the input decides, which keeps a finding a finding.
void read_in_many_ways(std::string_view bytes) {
  static const MemoryFile file;
  static const std::string name = file.path();
  const MemoryFrom little(&little_memory);
  std::size_t hash = std::hash<std::string_view>()(bytes);
  const auto one_in = [&](std::size_t n) { return std::exchange(hash, hash / n) % n; };
  ReadOptions options{.allow_nonfinite = one_in(2) == 0, .decimal_comma = one_in(2) == 0};
  const auto from_file = [&](std::string_view content) {
    file.hold(content);
    return outcome([&] { return read_matrix(name, options); });
  };
  const bool is_compressed = bytes.starts_with("\x1F\x8B");
  const std::string_view content = bytes.substr(bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  const std::string once = is_compressed || content.empty() ? from_file(bytes) : outcome([&] {
    return read_matrix(InputFile(name, std::string(content)), "", options);
  });
  if (one_in(16) != 0) return;
  switch (one_in(4)) {
    case 0:
      return require_same(once, from_file(bytes), "a file makes a difference");
    case 1:
      options.threads = 3;
      return require_same(once, from_file(bytes), "threads make a difference");
    case 2:
      file.hold(bytes);
      return write_and_read_back(file, FileFormat(1 + one_in(2)));
    default:
      if (is_compressed) return;  // gzip within gzip is not asked for
      return require_same(once, from_file(test::compressed(bytes, 1)), "compression makes a difference");
  }
}

/// Some of the blank space made long enough that several threads get a part of the file.
std::string spread_out(std::string_view bytes) {
  constexpr std::size_t worth_threads = 4 << 16;
  std::string longer;
  for (const char c : bytes) {
    longer += c;
    if (c == '\n' && longer.size() > 40 && longer.size() < worth_threads) longer.append(worth_threads / 8, '\n');
  }
  return longer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_in_many_ways(bytes);
  if (std::hash<std::string_view>()(bytes) / 4096 % 2048 == 0) read_in_many_ways(spread_out(bytes));
  return 0;
}
