#include "io/table_grammar.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "io/in_rounds.hpp"
#include "io/number.hpp"
#include "io/table.hpp"

namespace lasolve::io {
namespace {

/// Where only the first row will show what separates.
constexpr char unknown = '\0';

bool separates(char c, char separator) {
  return separator == unknown ? c == ',' || c == ';' : c == separator && separator != ' ';
}

std::string_view word_at(const char* p, const char* end) {
  const char* q = p;
  while (q != end && !ends_cell(*q)) ++q;
  return {p, std::size_t(q - p)};
}

/// Whether a # begins a comment, in the row at p.
bool begins_comment(const char* hash, const char* p, const char* end, char separator) {
  if (hash != p && !is_blank(hash[-1])) return false;
  if (is_error_value(word_at(hash, end))) return false;
  while (hash != p && is_padding(hash[-1], separator)) --hash;
  return hash == p || !separates(hash[-1], separator);
}

std::string_view row_at(const char* p, const char* end, char separator) {
  std::string_view row(p, std::size_t(row_end(p, end, separator) - p));
  const std::size_t last = row.find_last_not_of(" \r");
  return row.substr(0, last + 1);  // npos + 1 is 0
}

/// Where the first line is, but for sep=; and the like.
const char* begin_of(const InputFile& file) {
  constexpr std::string_view word = "sep=";
  const std::string_view content = file.content();
  if (!content.starts_with(word)) return file.begin();
  const char* const stop = line_end(file.begin(), file.end());
  std::string_view rest = content.substr(word.size(), std::size_t(stop - file.begin()) - word.size());
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest.size() == 1 && stop != file.end() ? stop + 1 : file.begin();
}

std::string_view first_row(const InputFile& file) {
  return row_at(next_row(begin_of(file), file.end(), ' '), file.end(), unknown);
}

char separator_of(FileFormat format, std::string_view row) {
  if (format == FileFormat::txt) return ' ';
  if (format == FileFormat::tsv) return '\t';
  return row.find(';') != row.npos ? ';' : ',';
}

/// Whether a word is [+-] digits, a comma, digits, or without its sign and its comma.
struct Commas {
  bool is_number, has_one;
};
Commas commas_of(std::string_view word) {
  const auto digits = [&] {
    const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
    word.remove_prefix(count);
    return count > 0;
  };
  word.remove_prefix(word.starts_with('-') || word.starts_with('+'));
  if (!digits()) return {false, false};
  const bool has_one = word.starts_with(',');
  word.remove_prefix(has_one);
  return {(!has_one || digits()) && word.empty(), has_one};
}

/// How many fields a row has. A separator within quotes is none.
std::int64_t fields_of(std::string_view row, char separator) {
  std::int64_t fields = separator == ' ' ? 0 : 1;
  bool in_quotes = false;
  for (std::size_t k = 0; k < row.size(); ++k) {
    in_quotes ^= row[k] == '"';
    if (separator == ' ')
      fields += !is_blank(row[k]) && (k == 0 || is_blank(row[k - 1]));
    else
      fields += row[k] == separator && !in_quotes;
  }
  return fields;
}

}  // namespace

const char* next_row(const char* p, const char* end, char separator) {
  while (p != end) {
    const char* q = p;
    while (is_padding(*q, separator)) ++q;
    const bool is_comment = *q == '%' || (*q == '#' && !is_error_value(word_at(q, end)));
    if (q != end && *q != '\n' && !is_comment) return p;
    p = line_end(q, end);
    if (p != end) ++p;
  }
  return end;
}

const char* row_end(const char* p, const char* end, char separator) {
  const char* const stop = line_end(p, end);
  const char* q = p;
  while ((q = static_cast<const char*>(std::memchr(q, '#', std::size_t(stop - q))))) {
    if (begins_comment(q, p, stop, separator)) return q;
    ++q;
  }
  return stop;
}

bool is_error_value(std::string_view word) {
  if (word.size() < 3 || word[0] != '#' || word[1] < 'A') return false;
  const bool ends_so = word.ends_with('!') || word.ends_with('?');
  const std::string_view name = word.substr(1, word.size() - 1 - std::size_t(ends_so));
  const bool capitals = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_") == name.npos;
  return capitals && (ends_so || name.find('/') != name.npos || name == "NV");
}

DecimalCommas decimal_commas_of(std::string_view row) {
  DecimalCommas found;
  for (std::size_t k = 0; k < row.size();) {
    const std::size_t from = std::min(row.find_first_not_of(" \t\r", k), row.size());
    k = std::min(row.find_first_of(" \t\r", from), row.size());
    if (from == k) break;
    const std::string_view text = row.substr(from, k - from);
    const Commas word = commas_of(text);
    const std::optional<Thousands> thousands = thousands_of(text);
    if (!word.is_number && !(thousands && thousands->decimal == ',')) return {};
    found.are_there |= word.has_one || thousands;
    found.beside_thousands |= thousands.has_value();
  }
  return found;
}

bool may_have_decimal_commas(const Layout& layout, const char* end) {
  if (layout.cols != 2 || layout.separator != ',') return false;
  for (const char* p = layout.first_row; p != end; p = next_row(p, end, layout.separator)) {
    std::string_view row = row_at(p, end, layout.separator);
    row.remove_prefix(std::min(row.find_first_not_of(' '), row.size()));
    const Commas word = commas_of(row);
    if (!word.is_number || !word.has_one) return false;
    p = line_end(p, end);
    if (p != end) ++p;
  }
  return true;
}

Layout layout_of(const InputFile& file, FileFormat format, bool decimal_comma) {
  // Which lines are rows depends on the separator only where a line holds nothing but blanks and tabs.
  const char* const begin = begin_of(file);
  const char* const probe = next_row(begin, file.end(), ' ');
  if (probe == file.end()) file.refuse(probe, "expected a row of numbers, found the end of the file");
  const char separator = separator_of(format, row_at(probe, file.end(), unknown));
  const char* const first = next_row(begin, file.end(), separator);
  return {first, separator, decimal_comma ? ',' : '.', fields_of(row_at(first, file.end(), separator), separator)};
}

FileFormat format_of_table(const InputFile& file, bool decimal_comma) {
  const std::string_view row = first_row(file);
  if (row.find_first_of(decimal_comma ? ";" : ",;") != row.npos) return FileFormat::csv;
  // Tabs beside spaces are blanks as any other.
  const std::size_t tab = row.find('\t');
  return tab == row.npos || row.find(' ') != row.npos ? FileFormat::txt : FileFormat::tsv;
}

}  // namespace lasolve::io
