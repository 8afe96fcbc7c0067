// Files that lasolve does not read, and the line that converts each.
#pragma once

#include <string>

#include "io/input_file.hpp"

namespace lasolve::io {

/// Throws InputError with the line that converts it, on a file of MATLAB, of HDF5 or of Python's pickle, a Harwell-Boeing file, and
/// numbers without any text; on text in UTF-16 or UTF-32; on a list in brackets; and on what refuse_packed() knows.
void refuse_foreign(const InputFile& file);

/// What a program of Python reads a file from: its first word, or what is compressed in it.
struct PythonSource {
  const char *module, *name;
};
PythonSource python_source(const InputFile& file);

/// Throws InputError: what was found, and the line that converts it to .npy by a program of Python, whose sys.argv has the file and a
/// name to write to, which no file has. The program has neither double quotes nor what a shell expands in them. `more` stands
/// behind it.
[[noreturn]] void refuse_with_python(const InputFile& file, const std::string& found, const std::string& program,
                                     const std::string& more = "");

/// The path of a file for a command line; standard input has none, and is FILE.
std::string path_of(const InputFile& file);

/// A word of a command line as a shell takes it; and a path, which is no option.
std::string shell_quoted(const std::string& word);
std::string shell_word(const std::string& path);

/// STEM + suffix, or STEM-2 + suffix, …: the first that no file has. STEM is the path without .gz and its own suffix.
std::string free_name(const std::string& path, const std::string& suffix);

}  // namespace lasolve::io
