// What the readers take and give.
#pragma once

#include <string>
#include <vector>

#include "lasolve/matrix.hpp"

namespace lasolve::io {

struct ReadOptions {
  /// How many threads may parse; an array file is split among them.
  int threads = 1;
  /// Whether NaN and infinities are read; otherwise they are refused where they stand.
  bool allow_nonfinite = false;
  /// Bytes of memory that an element will take in the end, so that what cannot be solved is not read: 8 for the matrix
  /// alone, more when it is going to be factored.
  int bytes_an_element = 8;
};

struct MatrixFile {
  Matrix<double> matrix;
  /// What a person should know about how the file was read, such as entries that were added up.
  std::vector<std::string> notes;
  /// Whether the file says that the matrix is symmetric. The matrix is full all the same.
  bool symmetric = false;
};

}  // namespace lasolve::io
