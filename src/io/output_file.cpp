#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

namespace lasolve::io {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

/// Names of temporary files where a signal handler may read them. A file that finds no free slot, or whose name is too
/// long, is still removed on every other way out.
struct PendingName {
  enum State { free, taken, pending };
  std::atomic<int> state = free;
  std::array<char, 4096> name;
};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<PendingName, 8> pending_names;

int remember(const std::string& name) {
  if (name.size() >= sizeof(PendingName::name)) return -1;
  for (std::size_t i = 0; i < pending_names.size(); ++i) {
    int expected = PendingName::free;
    if (!pending_names[i].state.compare_exchange_strong(expected, PendingName::taken)) continue;
    std::memcpy(pending_names[i].name.data(), name.c_str(), name.size() + 1);
    pending_names[i].state = PendingName::pending;
    return int(i);
  }
  return -1;
}

void forget(int slot) noexcept {
  if (slot >= 0) pending_names[std::size_t(slot)].state = PendingName::free;
}

/// The file that a link leads to, so that writing through a link keeps it.
std::string resolved(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status)) throw OutputError(fmt::format("cannot write {}: it is not a regular file", path));
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

struct OutputFile::Compressor {
  z_stream stream{};
  std::array<char, buffer_bytes> output;

  Compressor() {
    // Digits hardly compress better at the higher levels, which take several times as long.
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~Compressor() { deflateEnd(&stream); }
};

OutputFile::OutputFile(const std::string& path, bool gzip) : path_(resolved(path)) {
  static std::atomic<unsigned> made = 0;
  buffer_.reserve(buffer_bytes);
  if (gzip) compressor_ = std::make_unique<Compressor>();
  // A name may be left over from a killed process that had our number; then the next one is tried.
  for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
    temporary_ = fmt::format("{}.{}-{}.tmp", path_, getpid(), made++);
    pending_ = remember(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    forget(pending_);
    if (errno != EEXIST) break;
  }
  fail();
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
  forget(pending_);
}

void OutputFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, buffer_bytes - buffer_.size());
    buffer_.append(part);
    bytes.remove_prefix(part.size());
    if (buffer_.size() == buffer_bytes) flush(false);
  }
}

void OutputFile::commit() {
  flush(true);
  bool done = close(std::exchange(descriptor_, -1)) == 0;
  done = done && rename(temporary_.c_str(), path_.c_str()) == 0;
  const int error = errno;
  if (!done) unlink(temporary_.c_str());
  forget(pending_);
  errno = error;
  if (!done) fail();
}

void OutputFile::flush(bool last) {
  if (compressor_) {
    z_stream& stream = compressor_->stream;
    std::array<char, buffer_bytes>& output = compressor_->output;
    stream.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream.avail_in = uInt(buffer_.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(output.data());
      stream.avail_out = uInt(output.size());
      deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      write({output.data(), output.size() - stream.avail_out});
    } while (stream.avail_out == 0);
  } else {
    write(buffer_);
  }
  buffer_.clear();
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) fail();
    if (count > 0) bytes.remove_prefix(std::size_t(count));
  }
}

void OutputFile::fail() const { throw OutputError(fmt::format("cannot write {}: {}", path_, std::strerror(errno))); }

void remove_pending_temporaries() noexcept {
  for (const PendingName& pending : pending_names)
    if (pending.state == PendingName::pending) unlink(pending.name.data());
}

}  // namespace lasolve::io
