// What a path to write leads to.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>

#include "io/descriptor.hpp"

namespace lasolve::io {

/// A file could not be written. what() says which and why.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws OutputError with the reason.
[[noreturn]] void fail_to_write(const std::string& path, int error = errno);

/// The end of a path through all of its links: a file in a folder, which need not exist yet, or a stream, which is
/// written as it is: a pipe, a character device, or an open descriptor, such as /dev/stdout, which "-" is short for.
class Destination {
 public:
  /// Throws OutputError where there is no such folder, and on what can be no output, such as a directory.
  explicit Destination(const std::string& path);

  bool is_stream() const { return is_stream_; }
  /// The folder, and the name in it.
  int folder() const { return folder_.number(); }
  const std::string& name() const { return name_; }
  /// The file that is there now.
  const std::optional<struct stat>& existing() const { return existing_; }

  /// Throws OutputError where what is there may not be written. Does not open it, which a pipe would wait for.
  void require_writable() const;
  /// Of a stream.
  Descriptor open() const;

 private:
  void follow();

  std::string path_, name_;
  Descriptor folder_;
  std::optional<struct stat> existing_;
  bool is_stream_ = false;
  std::optional<int> descriptor_;  // of ours, which the name stands for
};

/// Whether two paths lead to one file or pipe, of which one at least is going to be written.
bool lead_to_one_file(const std::string& a, const std::string& b);

/// Whether what is written to a path would go where standard output goes. Of devices only a terminal counts.
bool is_standard_output(const std::string& path);

}  // namespace lasolve::io
