// A file that appears under its name only when it is complete.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lasolve::io {

/// A file could not be written. what() says which and why.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes to a temporary file in the same directory, which commit() renames; without commit() it is removed. What is
/// appended is buffered, and compressed where asked. Throws OutputError.
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
  void flush(bool last);
  void write(std::string_view bytes);
  [[noreturn]] void fail() const;

  std::string path_, temporary_;
  int descriptor_ = -1;
  int pending_ = -1;  // where the signal handler finds the temporary name
  std::string buffer_;
  std::unique_ptr<Compressor> compressor_;
};

/// Removes the temporary files that are being written. May be called in a signal handler that then ends the process.
void remove_pending_temporaries() noexcept;

}  // namespace lasolve::io
