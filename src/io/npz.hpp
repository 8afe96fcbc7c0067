// NumPy's .npz files: ZIP archives of .npy files.
#pragma once

#include <string>

#include "io/input_file.hpp"
#include "io/matrix_file.hpp"

namespace lasolve::io {

/// Reads the array of this name, or the only one where it is empty. Throws InputError with the names that there are where
/// there is none of it, or where there are several; and what read_npy throws.
MatrixFile read_npz(const InputFile& file, const std::string& array, const ReadOptions& options = {});

}  // namespace lasolve::io
