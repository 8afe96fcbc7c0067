// A file to read: mapped, or decompressed when its content says that it is gzip.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include "io/descriptor.hpp"
#include "io/teller.hpp"

namespace lasolve::io {

/// Whether there is a file of this path, and no folder, pipe or device. No where the system does not say: a path can be too long, or in a
/// folder that is closed. Whoever opens it then is told why.
bool is_regular_file(const std::string& path) noexcept;

/// The whole content of a file, without a UTF-8 byte order mark. At least 64 zero bytes follow it, so that a parser
/// need not look for the end at each byte. Throws InputError when the file cannot be read, is empty, or is damaged
/// gzip; MachineError when it does not fit in memory. A file that others shorten meanwhile raises SIGBUS where it is
/// read: see mapped_file_at().
class InputFile {
 public:
  /// "-" is standard input. While a file is decompressed, `progress` is called with the part that is done; NaN while a pipe is read.
  explicit InputFile(const std::string& path, const Progress& progress = {});
  /// A part of another file under a name of its own: a view of it, which at least eight other bytes follow, or bytes that
  /// were made from it.
  InputFile(std::string name, std::string_view part) : name_(std::move(name)), content_(part) {}
  InputFile(std::string name, std::string&& bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const { return name_; }
  std::string_view content() const { return content_; }
  /// Whether it was gzip.
  bool is_compressed() const { return is_compressed_; }
  const char* begin() const { return content_.data(); }
  const char* end() const { return content_.data() + content_.size(); }

  /// Throws InputError when the file has been changed since it was opened: what was read may be half of this and half of
  /// that, or zeros behind a new end.
  void require_unchanged() const;

  /// "FILE:LINE:COLUMN" of a place in the content.
  std::string name_of(const char* place) const;
  /// "FILE: byte N", for files that have no lines.
  std::string name_of_byte(const char* place) const;
  /// Throws InputError about the file as a whole.
  [[noreturn]] void refuse(const std::string& message) const;
  /// Throws InputError with the line and the column of `place`, which points into the content.
  [[noreturn]] void refuse(const char* place, const std::string& message) const;
  /// Throws InputError with the byte offset of `place`, for files that have no lines.
  [[noreturn]] void refuse_byte(const char* place, const std::string& message) const;

 private:
  bool map();
  void read(const Progress& progress);
  void decompress(const Progress& progress);
  void release();

  std::string name_;
  Descriptor file_;
  struct stat opened_ {};  // what was known of it then
  std::string_view content_;
  char* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int slot_ = -1;  // where the signal handler finds what is mapped
  std::string buffer_;
  bool is_compressed_ = false;
};

/// The name of the file that is mapped at an address, or null. May be called in a handler of SIGBUS.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace lasolve::io
