// Errors about wrong input: what was expected, what was found, and where.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lasolve::io {

/// A file that is wrong, missing or unreadable. what() begins with the file and the place.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A command line that cannot be understood, or asks for what does not go together; exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "FILE:LINE:COLUMN" of text[offset]. Lines and columns count from 1, columns in bytes.
std::string place_name(const std::string& file, std::string_view text, std::size_t offset);

/// "FILE:LINE:COLUMN: error: MESSAGE", the line, and a caret below text[offset]. The line is cut around the caret when
/// it is long, and left out when it is empty; what does not print is shown as \xNN.
std::string message_at(const std::string& file, std::string_view text, std::size_t offset, const std::string& message);

/// Text in UTF-8, with bytes that are none, or do not print, shown as \xNN.
std::string printable(std::string_view bytes);

/// The token in quotes, cut when it is long, and printable.
std::string quoted(std::string_view token);

}  // namespace lasolve::io
