// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string_view>

#include "io/input_file.hpp"
#include "io/matrix_file.hpp"
#include "io/output_file.hpp"

namespace lasolve::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads versions 1 to 3 with elements that are floats of 2, 4 or 8 bytes, integers of 1 to 8 bytes or bools, of either
/// byte order, in C or Fortran order, of one dimension (read as a column) or two. Throws InputError where anything is
/// wrong, also on an integer that no double holds; MachineError when the matrix does not fit in memory.
MatrixFile read_npy(const InputFile& file, const ReadOptions& options = {});

/// Writes version 1, '<f8', Fortran order, two dimensions, or one of a vector.
void write_npy(OutputFile& file, MatrixView<const double> A, bool is_vector = false, const Progress& progress = {});

}  // namespace lasolve::io
