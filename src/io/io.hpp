// Reading and writing matrices, whatever the format, compressed by gzip or not.
#pragma once

#include <string>
#include <vector>

#include "io/input_error.hpp"
#include "io/matrix_file.hpp"
#include "io/output_file.hpp"

namespace lasolve::io {

/// Reads the matrix in a file, of which the content says which format it has (see format_of); "-" is standard input, and
/// FILE.npz:NAME one array of several, also FILE.npz.gz:NAME and -:NAME. Throws InputError with the place where the file is wrong, MachineError when the
/// matrix does not fit in memory.
MatrixFile read_matrix(const std::string& path, const ReadOptions& options = {});
/// The same of a file that is open, or of bytes in memory; `array` is one of several in a .npz file, or empty.
MatrixFile read_matrix(const InputFile& file, const std::string& array, const ReadOptions& options);

struct WriteOptions {
  /// Of a stream whose name says none; automatic: Matrix Market.
  FileFormat format = FileFormat::automatic;
  /// A matrix of one column that formats which have vectors hold as such.
  bool is_vector = false;
  /// Called with the share that has been written.
  Progress progress = {};
};

/// Throws now what write_matrix would throw for this path after a long computation.
void require_matrix_writable(const std::string& path);

/// Writes A to a file, of which the suffix says which format it gets: .mtx, .npy, .csv, .tsv or .txt, and .gz after it or
/// not; a stream without one of these, such as "-", gets that of the options. The file appears when it is complete.
/// Comments go into Matrix Market files only. Throws std::invalid_argument on another suffix, OutputError when the file
/// cannot be written.
void write_matrix(const std::string& path, MatrixView<const double> A, const std::vector<std::string>& comments = {},
                  const WriteOptions& options = {});

}  // namespace lasolve::io
