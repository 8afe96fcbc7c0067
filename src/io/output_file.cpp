#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <new>

#include "io/seen_by_signals.hpp"

namespace lasolve::io {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

/// A temporary file in a folder that is open.
struct Temporary {
  int folder;
  std::array<char, 40> name;
};
SeenBySignals<Temporary, 8> temporaries;

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

OutputFile::OutputFile(const std::string& path, bool gzip) : path_(path), destination_(path) {
  buffer_.reserve(buffer_bytes);
  if (gzip) compressor_ = std::make_unique<Compressor>();
  destination_.require_writable();
  if (destination_.is_stream())
    file_ = destination_.open();
  else
    make_temporary();
}

OutputFile::~OutputFile() { remove_temporary(); }

/// Its name has nothing of the name of the file, which may be as long as names can be.
void OutputFile::make_temporary() {
  static std::atomic<unsigned> made = 0;
  const auto& existing = destination_.existing();
  // A name may be left over from a killed process that had our number; then the next one is tried.
  errno = EEXIST;
  for (int attempt = 0; !file_.is_open() && errno == EEXIST && attempt < 100; ++attempt) {
    *fmt::format_to_n(temporary_.data(), temporary_.size() - 1, ".lasolve-{}-{}.tmp", getpid(), made++).out = '\0';
    slot_ = temporaries.add({destination_.folder(), temporary_});
    file_ = Descriptor(openat(destination_.folder(), temporary_.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              existing ? existing->st_mode & 0777 : 0666));
    has_temporary_ = file_.is_open();
    if (!has_temporary_) temporaries.remove(slot_);
  }
  if (!file_.is_open()) fail_to_write(path_);
  if (!existing) return;
  // Only a privileged process can give a file away, and what file systems know of modes differs: both are tried.
  [[maybe_unused]] const int owned = fchown(file_.number(), existing->st_uid, existing->st_gid);
  [[maybe_unused]] const int moded = fchmod(file_.number(), existing->st_mode & 0777);
}

void OutputFile::remove_temporary() noexcept {
  if (!has_temporary_) return;
  unlinkat(destination_.folder(), temporary_.data(), 0);
  temporaries.remove(slot_);
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
  if (close(file_.release()) != 0) fail_to_write(path_);
  if (destination_.is_stream()) return;
  const int folder = destination_.folder();
  if (renameat(folder, temporary_.data(), folder, destination_.name().c_str()) != 0) fail_to_write(path_);
  has_temporary_ = false;
  temporaries.remove(slot_);
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
    const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) fail_to_write(path_);
    if (count > 0) bytes.remove_prefix(std::size_t(count));
  }
}

void require_writable(const std::string& path) {
  if (const Destination destination(path); destination.is_stream())
    destination.require_writable();
  else
    OutputFile(path, false);
}

void remove_pending_temporaries() noexcept {
  temporaries.for_each([](const Temporary& t) { unlinkat(t.folder, t.name.data(), 0); });
}

}  // namespace lasolve::io
