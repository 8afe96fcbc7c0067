// Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html
#pragma once

#include <span>
#include <string>

#include "io/input_file.hpp"
#include "io/matrix_file.hpp"
#include "io/output_file.hpp"

namespace lasolve::io {

/// Reads matrix array|coordinate real|integer|pattern general|symmetric|skew-symmetric into a full dense matrix.
/// A pattern's entries are 1; entries given more than once are added up, and noted. Of a symmetric matrix, an entry of coordinates may
/// stand in either triangle, but not in both. Throws InputError with the place of
/// the first thing that is wrong, MachineError when the matrix does not fit in memory.
MatrixFile read_matrix_market(const InputFile& file, const ReadOptions& options = {});

/// Writes array real general, with the fewest digits that read back as the same numbers.
void write_matrix_market(OutputFile& file, MatrixView<const double> A, std::span<const std::string> comments,
                         const Progress& progress = {});

}  // namespace lasolve::io
