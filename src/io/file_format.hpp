// The formats of files of matrices, and how one is recognized.
#pragma once

#include <string_view>

#include "io/input_file.hpp"
#include "io/matrix_file.hpp"

namespace lasolve::io {

/// The format that a name's suffix says, before .gz or not; automatic where it says none.
FileFormat format_of_suffix(std::string_view name);

/// The format of a file, by its content: Matrix Market where its banner is first, or something like it, or the name ends so; else a
/// table of numbers whose first row shows what separates them. What a content leaves open, the options decide: with txt, tabs are
/// blanks as spaces are. Throws InputError on what refuse_foreign() knows.
FileFormat format_of(const InputFile& file, const ReadOptions& options);

/// The text with a line feed for each carriage return, where it has no line feed: so did Macs end lines once. Else empty.
std::string with_line_feeds(const InputFile& file);

}  // namespace lasolve::io
