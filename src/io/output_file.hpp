// A file that appears under its name only when it is complete.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "io/destination.hpp"

namespace lasolve::io {

/// Writes to a temporary file in the same folder, which commit() renames; without commit() it is removed. A file that
/// it replaces leaves it its mode, and links to it stay. A stream (see Destination) is written at once. What is appended
/// is buffered, and compressed where asked. Throws OutputError.
class OutputFile {
 public:
  OutputFile(const std::string& path, bool gzip);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view bytes);
  void commit();

 private:
  struct Compressor;
  void make_temporary();
  void remove_temporary() noexcept;
  void flush(bool last);
  void write(std::string_view bytes);

  std::string path_;
  Destination destination_;
  std::array<char, 40> temporary_{};  // its name in the folder of the destination
  bool has_temporary_ = false;
  int slot_ = -1;  // where the signal handler finds it
  Descriptor file_;
  std::string buffer_;
  std::unique_ptr<Compressor> compressor_;
};

/// Throws now what an OutputFile of this path would throw when it is opened, after a long computation.
void require_writable(const std::string& path);

/// Removes the temporary files that are being written. May be called in a signal handler that then ends the process.
void remove_pending_temporaries() noexcept;

}  // namespace lasolve::io
