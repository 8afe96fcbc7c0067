// A solution on standard output, where no file was named for it.
#pragma once

#include "io/io.hpp"

namespace lasolve::cli {

/// X in the format of the options, a row a line and with blanks between numbers where that is automatic, with the fewest digits that
/// read back as the same numbers. On a terminal a long X is its head and its tail; a pipe or a file gets all of it.
void print_solution(MatrixView<const double> X, const io::WriteOptions& options);

}  // namespace lasolve::cli
