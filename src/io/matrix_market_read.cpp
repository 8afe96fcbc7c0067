#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/range.hpp"
#include "io/in_rounds.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_dealt.hpp"
#include "io/matrix_market_values.hpp"

namespace lasolve::io {
namespace {

using Header = MatrixMarketHeader;

void read_array(Scanner& scanner, const Header& header, const ReadOptions& options, MatrixView<double> A) {
  std::int64_t found = 0;
  Teller tell(options.progress, header.stored);
  for (std::int64_t j = 0; found < header.stored; ++j) {
    tell(found);
    for (std::int64_t i = header.first_row(j); i < header.rows;) {
      const std::int64_t run = read_run(header.field, scanner.place, &A(i, j), header.rows - i);
      i += run;
      found += run;
      if (i == header.rows) break;
      scanner.skip_to_data();
      if (scanner.at_end()) refuse_missing(scanner, header, found);
      A(i++, j) = read_value(scanner, header.field, options);
      ++found;
    }
  }
  refuse_extra(scanner, header);
}

/// How many tokens begin in [begin, end), which begins a line; or -1 when there may be a comment in it, or a zero byte,
/// which would look like the end of the text.
std::int64_t count_tokens(const char* begin, const char* end) {
  constexpr std::ptrdiff_t block = 128;  // counted in single bytes, which the compiler does many at a time
  std::int64_t tokens = 0;
  std::uint8_t unusual = 0;
  for (const char* p = begin; p < end; p += block) {
    const std::ptrdiff_t size = std::min(block, end - p);
    std::uint8_t starts = 0;
    for (std::ptrdiff_t k = 0; k < size; ++k) {
      const std::uint8_t black = p[k] > ' ', after_blank = p[k - 1] <= ' ', comment = p[k] == '%', zero = p[k] == '\0';
      starts = std::uint8_t(starts + (black & after_blank));
      unusual |= comment | zero;
    }
    tokens += starts;
  }
  return unusual ? -1 : tokens;
}

/// Reads `count` values that start with the first-th value of the file. False when not all of them are plain.
bool read_part(const char* p, const Header& header, std::int64_t first, std::int64_t count, MatrixView<double> A) {
  std::int64_t j = 0;
  for (; count > 0 && first >= header.rows - header.first_row(j); ++j) first -= header.rows - header.first_row(j);
  for (std::int64_t i = header.first_row(j) + first; count > 0; ++j, i = header.first_row(j)) {
    const std::int64_t run = std::min(count, header.rows - i);
    if (run > 0 && read_run(header.field, p, &A(i, j), run) < run) return false;
    count -= run;
  }
  return true;
}

/// Splits the lines among threads, which count values first, to know where in the matrix each starts, and then read
/// them. False when anything is out of the ordinary: then the file is for read_array, which also finds what is wrong.
bool read_array_on_threads(const Scanner& scanner, const Header& header, const ReadOptions& options,
                           MatrixView<double> A) {
  const char* const begin = scanner.place;
  const char* const end = scanner.file.end();
  const std::int64_t parts = parts_of_text(end - begin, options.threads);
  if (parts == 1) return false;

  const std::vector<const char*> bounds = split_lines(begin, end, parts);
  std::vector<std::int64_t> counts(bounds.size() - 1), firsts(counts.size());
  const double work = double(end - begin);
  in_rounds(parts, options.threads, work, nullptr, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    counts[t] = count_tokens(bounds[t], bounds[t + 1]);
  });
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t(0));
  if (contains(counts, -1) || firsts.back() + counts.back() != header.stored) return false;

  std::vector<char> plain(counts.size());
  in_rounds(parts, options.threads, 10 * work, options.progress, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    plain[t] = read_part(bounds[t], header, firsts[t], counts[t], A);
  });
  return !contains(plain, 0);
}

/// f(entry) for all of them.
template <class F>
void for_each_entry(Scanner& scanner, const Header& header, const ReadOptions& options, F f) {
  for (std::int64_t k = 0; k < header.stored; ++k) {
    scanner.skip_to_data();
    if (scanner.at_end()) refuse_missing(scanner, header, k);
    f(read_entry(scanner, header, options));
  }
  refuse_extra(scanner, header);
}

/// The structure of a square matrix of which few entries are given, and none where many are.
std::optional<Structure> sparse_structure(Scanner scanner, const Header& header, const ReadOptions& options) {
  constexpr std::int64_t most_rows = 1 << 28, sparse = 8;
  if (header.format != Format::coordinate || header.rows != header.cols || header.rows > most_rows) return std::nullopt;
  if (header.stored > header.rows * header.cols / sparse) return std::nullopt;
  StructureGathered gathered(header.rows);
  for_each_entry(scanner, header, options, [&](const Entry& entry) {
    gathered.add(entry.i, entry.j);
    if (header.symmetry != Symmetry::general && entry.i != entry.j) gathered.add(entry.j, entry.i);
  });
  return gathered.structure();
}

/// Reads entries into A, of a symmetric matrix into its lower triangle.
void read_entries(Scanner& scanner, const Header& header, const ReadOptions& options, MatrixFile& result) {
  const MatrixView<double> A = result.matrix;
  const bool general = header.symmetry == Symmetry::general;
  std::fill_n(A.data(), A.ld() * A.cols(), 0.0);
  std::vector<bool> given(std::size_t(A.rows() * A.cols()));
  std::int64_t repeated = 0, read = 0;
  std::string first_repeated;
  Teller tell(options.progress, header.stored);
  for_each_entry(scanner, header, options, [&](const Entry& entry) {
    tell(read++);
    const auto [i, j, at, value] = entry;
    if (!general && i != j && given[std::size_t(j + i * A.rows())])
      refuse_both_triangles(entry.place_in(scanner.file), header, i, j);
    const auto cell = std::size_t(i + j * A.rows());
    const bool folded = !general && i < j;
    double& x = folded ? A(j, i) : A(i, j);
    const double its = folded && header.symmetry == Symmetry::skew_symmetric ? -value : value;
    if (given[cell] && repeated++ == 0) first_repeated = scanner.file.name_of(scanner.file.begin() + at);
    x = given[cell] ? x + its : its;
    given[cell] = true;
    refuse_overflow(entry.place_in(scanner.file), x, options);
  });
  if (repeated > 0) result.notes.push_back(note_of_repeated(first_repeated, repeated));
}

/// Fills the upper triangle from the lower one, in blocks that fit in the cache.
void mirror(MatrixView<double> A, Symmetry symmetry) {
  constexpr std::int64_t block = 64;
  const double sign = symmetry == Symmetry::symmetric ? 1.0 : -1.0;
  const std::int64_t n = A.rows();
  for (std::int64_t jb = 0; jb < n; jb += block)
    for (std::int64_t ib = jb; ib < n; ib += block)
      for (std::int64_t j = jb; j < std::min(jb + block, n); ++j)
        for (std::int64_t i = std::max(ib, j + 1); i < std::min(ib + block, n); ++i) A(j, i) = sign * A(i, j);
  if (symmetry == Symmetry::skew_symmetric)
    for (std::int64_t j = 0; j < n; ++j) A(j, j) = 0.0;
}

/// A note where the first lines hold a row each, which is what a person writes who does not know that the numbers of an
/// array file stand column by column. A symmetric matrix is the same either way.
void note_rows(Scanner scanner, const Header& header, MatrixFile& result) {
  constexpr std::int64_t lines_looked_at = 8;
  const MatrixView<const double> A = result.matrix;
  if (header.symmetry != Symmetry::general || A.rows() < 2 || A.cols() < 2) return;
  scanner.skip_to_data();
  const char* const first = scanner.place;
  for (std::int64_t line = 0; line < std::min(lines_looked_at, A.rows()); ++line) {
    scanner.skip_to_data();
    std::int64_t numbers = 0;
    for (; !scanner.at_line_end() && numbers <= A.cols(); ++numbers, scanner.skip_blanks_in_line())
      scanner.place += scanner.token().size();
    if (numbers != A.cols() || !scanner.at_line_end()) return;
  }
  bool symmetric = A.rows() == A.cols();
  for (std::int64_t j = 0; symmetric && j < A.cols(); ++j)
    for (std::int64_t i = 0; symmetric && i < j; ++i) symmetric = A(i, j) == A(j, i);
  if (symmetric) return;
  result.notes.push_back(fmt::format(
      "{}: note: each line holds {} numbers, as if it were a row; array files are read column by column{}",
      scanner.file.name_of(first), A.cols(), A.rows() == A.cols() ? "; --transpose takes the lines as rows" : ""));
}

}  // namespace

MatrixFile read_matrix_market(const InputFile& file, const ReadOptions& options) {
  Scanner scanner{file, file.begin()};
  const Header header = read_header(scanner);
  const Scanner data = scanner;
  MatrixFile result{Matrix<double>(), file.name_of(header.place), {}, header.symmetry == Symmetry::symmetric};
  if (options.sharing) {
    read_dealt(scanner, header, options, result);
    return result;
  }
  result.structure = sparse_structure(scanner, header, options);
  const bool singular = result.structure && result.structure->column_without_pivot();
  if (singular && options.stops_where_singular) return result;
  const std::string why = why_no_memory(header.rows, header.cols, options.bytes_an_element,
                                        result.structure ? result.structure->advice() : "");
  if (!why.empty())
    throw MachineError(message_at(file.name(), file.content(), std::size_t(header.place - file.begin()), why));
  result.matrix = Matrix<double>(header.rows, header.cols);
  if (header.format == Format::coordinate)
    read_entries(scanner, header, options, result);
  else if (!read_array_on_threads(scanner, header, options, result.matrix))
    read_array(scanner, header, options, result.matrix);
  note_underflows(file, scanner.underflows, result);
  if (header.symmetry != Symmetry::general) mirror(result.matrix, header.symmetry);
  if (header.format == Format::array) note_rows(data, header, result);
  return result;
}

}  // namespace lasolve::io
