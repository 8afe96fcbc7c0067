#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "io/in_rounds.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_header.hpp"

namespace lasolve::io {
namespace {

using Header = MatrixMarketHeader;

/// Reads numbers at p into x[0 … count) until one is not plain, or a comment or the end stands there. Returns how many.
template <auto read_number>
std::int64_t read_run(const char*& p, double* x, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    const char* next = p;
    while (is_blank(*next)) ++next;
    p = next;
    next = read_number(p, x[k]);
    if (!next) return k;
    p = next;
  }
  return count;
}

std::int64_t read_run(Field field, const char*& p, double* x, std::int64_t count) {
  return field == Field::integer ? read_run<read_integer>(p, x, count) : read_run<read_real<>>(p, x, count);
}

/// Reads the value at the place, whatever it is, or says what is wrong with it.
double read_value(Scanner& scanner, Field field, const ReadOptions& options) {
  double value = 0;
  const char* end = field == Field::integer ? read_integer(scanner.place, value) : read_real(scanner.place, value);
  if (!end && options.allow_nonfinite && field == Field::real) end = read_nonfinite(scanner.place, value);
  if (!end) {
    if (scanner.at_line_end()) scanner.refuse_other_than("a number");
    double ignored;
    const bool may_be_read = field == Field::real && read_nonfinite(scanner.place, ignored);
    scanner.refuse(
        (field == Field::integer ? explain_bad_integer(scanner.token()) : explain_bad_real(scanner.token())) +
        (may_be_read ? "; --allow-nonfinite reads it" : ""));
  }
  scanner.place = end;
  return value;
}

void refuse_extra(Scanner& scanner, const Header& header) {
  scanner.skip_to_data();
  if (scanner.at_end()) return;
  std::int64_t stored = header.stored;
  if (header.format == Format::array && header.symmetry != Symmetry::general)
    for (Scanner rest = scanner; !rest.at_end(); rest.skip_to_data(), ++stored) rest.place += rest.token().size();
  const bool all = stored != header.stored && stored == header.rows * header.cols;
  scanner.refuse(fmt::format(
      "expected the end of the file after {}, found {}{}", counted(header.stored, header.format), scanner.found(),
      all ? fmt::format("; a file with all {} is general, as its banner then says", stored) : ""));
}

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
  const auto parts = std::size_t(parts_of_text(end - begin, options.threads));
  if (parts == 1) return false;

  const std::vector<const char*> bounds = split_lines(begin, end, std::int64_t(parts));
  std::vector<std::int64_t> counts(parts), firsts(parts);
  const double work = double(end - begin);
  in_rounds(std::int64_t(parts), options.threads, work, nullptr, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    counts[t] = count_tokens(bounds[t], bounds[t + 1]);
  });
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t(0));
  if (std::count(counts.begin(), counts.end(), -1) > 0 || firsts.back() + counts.back() != header.stored) return false;

  std::vector<char> plain(parts);
  in_rounds(std::int64_t(parts), options.threads, 10 * work, options.progress, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    plain[t] = read_part(bounds[t], header, firsts[t], counts[t], A);
  });
  return std::count(plain.begin(), plain.end(), 0) == 0;
}

/// Reads the indices of an entry, of a symmetric matrix those in either triangle.
std::pair<std::int64_t, std::int64_t> read_indices(Scanner& scanner, const Header& header) {
  const std::int64_t i = scanner.read_count(1, header.rows, "a row index");
  const Scanner column = scanner;
  const std::int64_t j = scanner.read_count(1, header.cols, "a column index");
  if (header.symmetry == Symmetry::skew_symmetric && i == j)
    column.refuse(
        fmt::format("expected a column other than {}, as the diagonal of a skew-symmetric matrix is zero", i));
  return {i - 1, j - 1};
}

/// Reads all entries: of each f gets where it stands, its indices and its value.
template <class F>
void for_each_entry(Scanner& scanner, const Header& header, const ReadOptions& options, F f) {
  for (std::int64_t k = 0; k < header.stored; ++k) {
    scanner.skip_to_data();
    if (scanner.at_end()) refuse_missing(scanner, header, k);
    const Scanner entry = scanner;
    const auto [i, j] = read_indices(scanner, header);
    const double value = header.field == Field::pattern ? 1.0 : read_value(scanner, header.field, options);
    scanner.skip_blanks_in_line();
    if (!scanner.at_line_end()) scanner.refuse_other_than("the end of the line after an entry");
    f(entry, i, j, value);
  }
  refuse_extra(scanner, header);
}

/// The structure of a square matrix of which few entries are given, and none where many are.
std::optional<Structure> sparse_structure(Scanner scanner, const Header& header, const ReadOptions& options) {
  constexpr std::int64_t most_rows = 1 << 28, sparse = 8;
  if (header.format != Format::coordinate || header.rows != header.cols || header.rows > most_rows) return std::nullopt;
  if (header.stored > header.rows * header.cols / sparse) return std::nullopt;
  StructureGathered gathered(header.rows);
  for_each_entry(scanner, header, options, [&](const Scanner&, std::int64_t i, std::int64_t j, double) {
    gathered.add(i, j);
    if (header.symmetry != Symmetry::general && i != j) gathered.add(j, i);
  });
  return gathered.structure();
}

[[noreturn]] void refuse_both_triangles(const Scanner& entry, const Header& header, std::int64_t i, std::int64_t j) {
  entry.refuse(
      fmt::format("expected one of ({0}, {1}) and ({1}, {0}), as the file is {2}, found both; a file with "
                  "both triangles is general, as its banner then says",
                  i + 1, j + 1, header.symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric"));
}

/// All values that an array file stores: of each f gets where it stands, its indices and its value.
template <class F>
void for_each_value(Scanner& scanner, const Header& header, const ReadOptions& options, F f) {
  std::int64_t found = 0;
  for (std::int64_t j = 0; j < header.cols; ++j)
    for (std::int64_t i = header.first_row(j); i < header.rows; ++i, ++found) {
      scanner.skip_to_data();
      if (scanner.at_end()) refuse_missing(scanner, header, found);
      const Scanner value = scanner;
      f(value, i, j, read_value(scanner, header.field, options));
    }
  refuse_extra(scanner, header);
}

/// Reads entries, or values, into A, of a symmetric matrix into both triangles. Of a part, all of the file is looked at, and what is in the
/// part is kept.
void read_entries(Scanner& scanner, const Header& header, const ReadOptions& options,
                  const std::optional<BlockCyclic>& part, MatrixFile& result) {
  const MatrixView<double> A = result.matrix;
  std::fill_n(A.data(), A.ld() * A.cols(), 0.0);
  // Of coordinates, for what may be given twice: by itself, and as the other triangle's.
  const bool coordinates = header.format == Format::coordinate, general = header.symmetry == Symmetry::general;
  const std::size_t cells = coordinates ? std::size_t(A.rows() * A.cols()) : 0;
  std::vector<bool> given(cells), given_turned(general ? 0 : cells);
  std::int64_t repeated = 0, read = 0;
  std::string first_repeated;
  const auto keep = [&](const Scanner& entry, std::int64_t i, std::int64_t j, double value, bool turned) {
    if (part && !(part->rows.has(i) && part->cols.has(j))) return;
    const std::int64_t at_i = part ? part->rows.place_of(i) : i, at_j = part ? part->cols.place_of(j) : j;
    double& x = A(at_i, at_j);
    if (coordinates) {
      const auto cell = std::size_t(at_i + at_j * A.rows());
      if (!general && (turned ? given : given_turned)[cell] && i != j) refuse_both_triangles(entry, header, i, j);
      auto before = (turned ? given_turned : given)[cell];
      if (before && !turned && repeated++ == 0) first_repeated = entry.file.name_of(entry.place);
      if (before) value += x;
      before = true;
    }
    x = value;
    if (std::isinf(x) && !options.allow_nonfinite)
      entry.refuse("expected entries whose sum is in the range of a double, found an overflow");
  };
  Teller tell(options.progress, header.stored);
  const auto take = [&](const Scanner& entry, std::int64_t i, std::int64_t j, double value) {
    tell(read++);
    keep(entry, i, j, value, false);
    if (!general && i != j) keep(entry, j, i, header.symmetry == Symmetry::symmetric ? value : -value, true);
  };
  coordinates ? for_each_entry(scanner, header, options, take) : for_each_value(scanner, header, options, take);
  if (repeated == 0) return;
  result.notes.push_back(
      part ? fmt::format("{}: note: entries that repeat an earlier one were added to it",
                         scanner.file.name_of(header.place))
           : fmt::format("{}: note: {} repeat{} an earlier one and {} added to it; the first is here", first_repeated,
                         counted(repeated, header.format), repeated == 1 ? "s" : "", repeated == 1 ? "was" : "were"));
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
  result.structure = sparse_structure(scanner, header, options);
  const bool singular = result.structure && result.structure->column_without_pivot();
  if (singular && options.stops_where_singular) return result;
  if (options.part) {
    const BlockCyclic part = options.part(header.rows, header.cols, result.place);
    result.matrix = Matrix<double>(part.rows.count(), part.cols.count());
    read_entries(scanner, header, options, part, result);
    return result;
  }
  const std::string why = why_no_memory(header.rows, header.cols, options.bytes_an_element,
                                        result.structure ? result.structure->advice() : "");
  if (!why.empty())
    throw MachineError(message_at(file.name(), file.content(), std::size_t(header.place - file.begin()), why));
  result.matrix = Matrix<double>(header.rows, header.cols);
  if (header.format == Format::coordinate) {
    read_entries(scanner, header, options, {}, result);
    return result;
  }
  if (!read_array_on_threads(scanner, header, options, result.matrix))
    read_array(scanner, header, options, result.matrix);
  if (header.symmetry != Symmetry::general) mirror(result.matrix, header.symmetry);
  note_rows(data, header, result);
  return result;
}

MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options) {
  return read_matrix_market(InputFile(path), options);
}

}  // namespace lasolve::io
