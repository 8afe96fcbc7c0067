// Names and numbers of rows and columns, which stand in a table and are no part of its matrix.
#pragma once

#include <string>

#include "io/matrix_file.hpp"
#include "io/table_grammar.hpp"

namespace lasolve::io {

/// Which of them a table has.
struct Labels {
  bool header = false;  ///< its first row
  bool index = false;   ///< its first column
};

/// The command that leaves them out: "tail -n +2 A.csv | cut -d';' -f2-".
std::string command_without(const Labels& labels, const InputFile& file, const Layout& layout);

/// Whether a name may begin so: with a letter, of any language, or a quote.
bool begins_name(char first);

/// Whether each row behind the first begins with a name, or all of them with 0, 1, 2, … or 1, 2, 3, … where the matrix would be no
/// square with these.
bool has_index_below_first(const InputFile& file, const Layout& layout);

/// Asks in `result`, which was read from the file, about a first column, or row, of 0, 1, 2, … or 1, 2, 3, …
void ask_about_labels(const InputFile& file, const Layout& layout, MatrixFile& result);

}  // namespace lasolve::io
