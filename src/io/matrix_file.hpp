// What the readers take and give.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/structure.hpp"
#include "io/teller.hpp"
#include "lasolve/matrix.hpp"
#include "lasolve/names.hpp"

namespace lasolve::io {

/// Of a file: Matrix Market, NumPy's, and tables with commas or semicolons, tabs, or blanks between numbers.
enum class FileFormat { automatic, matrix_market, npy, npz, csv, tsv, txt };

}  // namespace lasolve::io

namespace lasolve {
template <>
struct Names<io::FileFormat> {
  using Format = io::FileFormat;
  static constexpr Name<Format> all[] = {
      {Format::automatic, "auto"}, {Format::matrix_market, "mtx"}, {Format::npy, "npy"}, {Format::npz, "npz"},
      {Format::csv, "csv"},        {Format::tsv, "tsv"},           {Format::txt, "txt"}};
};
}  // namespace lasolve

namespace lasolve::io {

class InputFile;
class Sharing;
struct Underflows;

struct ReadOptions {
  /// How many threads may parse; an array file is split among them.
  int threads = 1;
  /// Whether NaN and infinities are read; otherwise they are refused where they stand.
  bool allow_nonfinite = false;
  /// Bytes of memory that an element will take in the end, so that what cannot be solved is not read: 8 for the matrix
  /// alone, more when it is going to be factored.
  int bytes_an_element = 8;
  /// Of what a content leaves open; see format_of.
  FileFormat format = FileFormat::automatic;
  /// Called, on the calling thread, with the share of the file that has been read; NaN while nobody knows how long it is, as of a pipe.
  Progress progress = {};
  /// Whether a comma is the decimal mark in tables of text, and no separator.
  bool decimal_comma = false;
  /// Whether a sparse file that shows an empty row or column is enough as it is: no memory is taken for its matrix, which is 0 × 0.
  bool stops_where_singular = false;
  /// The array that is likely to be meant, of several in a .npz file: a message names it as an example.
  std::string likely_array = "A";
  /// Those with whom the file is read, each for its part, which becomes one matrix; null: all of it is read here. Then
  /// `bytes_an_element` is not looked at. Tables of text are read as a whole only.
  Sharing* sharing = nullptr;
};

struct MatrixFile {
  /// Or the part that was asked for.
  Matrix<double> matrix;
  /// Where the file gives the sizes, for messages about them: "FILE:LINE:COLUMN", or "FILE: byte N".
  std::string place;
  /// What a person should know about how the file was read, such as entries that were added up.
  std::vector<std::string> notes;
  /// Whether the file says that the matrix is symmetric. The matrix is full all the same.
  bool symmetric = false;
  /// Of a square matrix whose file is sparse: known before memory is taken.
  std::optional<Structure> structure = {};
  /// Whether each row is two integers and a comma, such as 1,5, which may be meant for one number.
  bool may_have_decimal_commas = false;
  /// Of a table whose first column, or row, is 0, 1, 2, … or 1, 2, 3, …: what it may be, and what leaves it out; else empty.
  std::string question_of_index = {}, question_of_header = {};
  /// Whether the file says that this is a vector, of one dimension, which is read as a column.
  bool is_vector = false;
};

/// A note in `result` on numbers of the file that are too small for a double, if there are any.
void note_underflows(const InputFile& file, const Underflows& underflows, MatrixFile& result);

/// Why no memory has addresses for a rows × cols matrix; empty where one can have.
std::string why_not_addressable(std::int64_t rows, std::int64_t cols);
/// Why it does not fit in the memory that is available now, at so many bytes an element; empty where it does. `advice`, if any, is
/// what to do then.
std::string why_no_memory(std::int64_t rows, std::int64_t cols, int bytes_an_element, const std::string& advice = "");

}  // namespace lasolve::io
