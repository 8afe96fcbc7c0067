// Tables of numbers as text: CSV, TSV, and blanks between, as spreadsheets and numpy.savetxt write them.
#pragma once

#include "io/file_format.hpp"
#include "io/matrix_file.hpp"
#include "io/output_file.hpp"

namespace lasolve::io {

/// csv where the first row has a comma or a semicolon, tsv where it has a tab between numbers, else txt. A decimal comma separates
/// nothing.
FileFormat format_of_table(const InputFile& file, bool decimal_comma = false);

/// Reads a table: see table_grammar.hpp.
/// Throws InputError with the place of the first thing that is wrong, such as a row of another length, an empty field or
/// a header row; MachineError when the matrix does not fit in memory.
MatrixFile read_table(const InputFile& file, FileFormat format, const ReadOptions& options = {});

/// Writes a row a line, with the fewest digits that read back as the same numbers.
void write_table(OutputFile& file, FileFormat format, MatrixView<const double> A, const Progress& progress = {});

}  // namespace lasolve::io
