#include "io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "core/sizes.hpp"
#include "io/input_error.hpp"
#include "io/seen_by_signals.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::io {
namespace {

constexpr std::size_t zeros_behind = 64;

struct Mapped {
  const char *begin, *end, *name;
};
SeenBySignals<Mapped, 8> mapped_files;

/// Makes room for more content, doubling it. A small gzip file can hold more than the memory does.
void grow(std::string& buffer, const std::string& name) {
  const std::size_t more = std::max<std::size_t>(buffer.size(), 1 << 18), much = 64 << 20;
  const bool fits = more <= much || more <= Memory<Cpu>::available();
  try {
    if (fits) return buffer.resize(buffer.size() + more);
  } catch (const std::bad_alloc&) {
    if (more <= much) throw;
  }
  throw MachineError(fmt::format("{}: error: its content, more than {}, does not fit in memory, of which {} are free",
                                 name, in_bytes(double(more)), in_bytes(double(Memory<Cpu>::available()))));
}

}  // namespace

bool is_regular_file(const std::string& path) noexcept {
  struct stat its;
  return stat(path.c_str(), &its) == 0 && S_ISREG(its.st_mode);
}

InputFile::InputFile(const std::string& path, const Progress& progress)
    : name_(path == "-" ? "<stdin>" : path),
      file_(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_.is_open() || fstat(file_.number(), &opened_) != 0)
    refuse(fmt::format("cannot open: {}", std::strerror(errno)));
  if (S_ISDIR(opened_.st_mode)) refuse("expected a file, found a directory");
  try {
    // Of standard input, a part may have been read before.
    if (!S_ISREG(opened_.st_mode) || lseek(file_.number(), 0, SEEK_CUR) != 0 || !map()) read(progress);
    if (content_.starts_with("\x1F\x8B")) decompress(progress);
  } catch (const InputError&) {
    release();
    require_unchanged();  // which explains more
    throw;
  } catch (...) {
    release();
    throw;
  }
  if (content_.starts_with("\xEF\xBB\xBF")) content_.remove_prefix(3);
  if (content_.empty()) {
    release();
    refuse("expected a matrix, found an empty file");
  }
}

InputFile::InputFile(std::string name, std::string&& bytes) : name_(std::move(name)), buffer_(std::move(bytes)) {
  const std::size_t size = buffer_.size();
  buffer_.append(zeros_behind, '\0');
  content_ = {buffer_.data(), size};
}

InputFile::~InputFile() { release(); }

void InputFile::release() {
  mapped_files.remove(std::exchange(slot_, -1));
  if (mapped_) munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
}

/// Maps the file over the begin of a larger range of zero pages, so that zero bytes follow it whatever its size is.
bool InputFile::map() {
  const auto size = std::size_t(opened_.st_size);
  if (size == 0) return false;  // also what files of /proc say
  const auto page = std::size_t(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (size + page - 1) / page * page + page;
  void* const range = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) return false;
  mapped_ = static_cast<char*>(range);
  mapped_bytes_ = bytes;
  if (mmap(range, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file_.number(), 0) == MAP_FAILED) {
    release();
    return false;
  }
  slot_ = mapped_files.add({mapped_, mapped_ + size, name_.c_str()});
  madvise(range, size, MADV_SEQUENTIAL);
  content_ = {mapped_, size};
  return true;
}

void InputFile::read(const Progress& progress) {
  std::size_t size = 0;
  for (;;) {
    if (buffer_.size() - size <= zeros_behind) grow(buffer_, name_);
    const ssize_t got = ::read(file_.number(), buffer_.data() + size, buffer_.size() - size - zeros_behind);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) break;
    size += std::size_t(got);
    if (progress) progress(std::numeric_limits<double>::quiet_NaN());
  }
  content_ = {buffer_.data(), size};
}

/// Replaces the content, which is one gzip member or several, by what is in them.
void InputFile::decompress(const Progress& progress) {
  is_compressed_ = true;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> cleanup(&stream, inflateEnd);

  std::string plain;
  std::size_t size = 0;
  const char* next = begin();
  const auto left = [&] { return std::size_t(end() - next); };
  for (int status = Z_OK; status != Z_STREAM_END || left() > 0;) {
    if (status == Z_STREAM_END) inflateReset(&stream);  // the next member
    if (plain.size() - size <= zeros_behind) grow(plain, name_);
    constexpr std::size_t most = 32 << 20;
    const auto input = uInt(std::min(left(), most)), room = uInt(std::min(plain.size() - size - zeros_behind, most));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(plain.data() + size);
    stream.avail_out = room;
    status = inflate(&stream, Z_NO_FLUSH);
    next += input - stream.avail_in;
    size += room - stream.avail_out;
    if (progress) progress(1 - double(left()) / double(content_.size()));
    if (status == Z_BUF_ERROR && left() == 0) refuse_byte(next, "expected more gzip data, found the end of the file");
    if (status != Z_OK && status != Z_STREAM_END)
      refuse_byte(next,
                  fmt::format("expected gzip data, found damage ({})", stream.msg ? stream.msg : "no reason given"));
  }
  std::fill(plain.begin() + std::ptrdiff_t(size), plain.end(), '\0');  // inflate may leave anything behind its output
  release();
  buffer_ = std::move(plain);
  content_ = {buffer_.data(), size};
}

void InputFile::require_unchanged() const {
  struct stat now;
  if (!S_ISREG(opened_.st_mode) || fstat(file_.number(), &now) != 0) return;
  const timespec &then = opened_.st_mtim, &last = now.st_mtim;
  if (now.st_size != opened_.st_size || then.tv_sec != last.tv_sec || then.tv_nsec != last.tv_nsec)
    refuse("it was changed while it was read");
}

const char* mapped_file_at(const void* address) noexcept {
  const char* name = nullptr;
  mapped_files.for_each([&](const Mapped& file) {
    const std::less<const void*> before;
    if (!before(address, file.begin) && before(address, file.end)) name = file.name;
  });
  return name;
}

void InputFile::refuse(const std::string& message) const {
  throw InputError(fmt::format("{}: error: {}", name_, message));
}

std::string InputFile::name_of(const char* place) const {
  return place_name(name_, content_, std::size_t(place - begin()));
}

std::string InputFile::name_of_byte(const char* place) const {
  return fmt::format("{}: byte {}", name_, place - begin());
}

void InputFile::refuse(const char* place, const std::string& message) const {
  throw InputError(message_at(name_, content_, std::size_t(place - begin()), message));
}

void InputFile::refuse_byte(const char* place, const std::string& message) const {
  throw InputError(fmt::format("{}: error: {}", name_of_byte(place), message));
}

}  // namespace lasolve::io
