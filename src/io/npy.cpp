#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <optional>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/sizes.hpp"
#include "io/in_rounds.hpp"
#include "io/input_error.hpp"
#include "io/sharing.hpp"

namespace lasolve::io {
namespace {

/// An element type that numpy has and C++ has not.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    constexpr int mantissa_bits = 10, bias = 15, infinite = 31;
    const int exponent = bits >> mantissa_bits & 31, mantissa = bits & 1023;
    const double magnitude = exponent == infinite ? mantissa == 0 ? INFINITY : NAN
                             : exponent == 0      ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                                  : std::ldexp(1024 + mantissa, exponent - bias - mantissa_bits);
    return bits >> 15 ? -magnitude : magnitude;
  }
};
struct Bool {
  std::uint8_t byte;
  explicit operator double() const { return byte != 0; }
};

template <class T>
struct Element {
  using Type = T;
};

/// f(Element<T>(), the name that numpy has for it) for the T of a type such as <f8; false where it is none of these.
template <class F>
bool with_element(std::string_view type, F f) {
  const bool ordered = type.starts_with('<') || type.starts_with('>');
  if (type.size() != 3 || !(ordered || (type[0] == '|' && type[2] == '1'))) return false;
  const std::string_view code = type.substr(1);
  const auto is = [&]<class T>(const char* its_code, Element<T> element, const char* name) {
    if (code != its_code) return false;
    f(element, name);
    return true;
  };
  return is("f8", Element<double>(), "float64") || is("f4", Element<float>(), "float32") ||
         is("f2", Element<Half>(), "float16") || is("i1", Element<std::int8_t>(), "int8") ||
         is("i2", Element<std::int16_t>(), "int16") || is("i4", Element<std::int32_t>(), "int32") ||
         is("i8", Element<std::int64_t>(), "int64") || is("u1", Element<std::uint8_t>(), "uint8") ||
         is("u2", Element<std::uint16_t>(), "uint16") || is("u4", Element<std::uint32_t>(), "uint32") ||
         is("u8", Element<std::uint64_t>(), "uint64") || is("b1", Element<Bool>(), "bool");
}

struct NpyHeader {
  std::string_view type;  // such as <f8
  bool fortran_order;
  std::vector<std::int64_t> shape;
  const char* place;  // of the shape
  const char* data;

  std::int64_t rows() const { return shape[0]; }
  std::int64_t cols() const { return shape.size() == 2 ? shape[1] : 1; }
  std::int64_t element_bytes() const { return type[2] - '0'; }
  bool big_endian() const { return type[0] == '>'; }
};

/// Reads the header's text, which is a Python dictionary such as
/// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryReader {
 public:
  DictionaryReader(const InputFile& file, const char* begin, const char* end) : file_(file), place_(begin), end_(end) {}

  NpyHeader read() {
    std::optional<std::string_view> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!skip('}')) {
      const char* const start = next();
      const std::string_view key = read_string("a key in quotes");
      expect(':');
      if (key == "descr" && !type)
        type = read_type();
      else if (key == "fortran_order" && !fortran_order)
        fortran_order = read_bool();
      else if (key == "shape" && !shape)
        shape = read_shape();
      else
        file_.refuse_byte(start, "expected 'descr', 'fortran_order' and 'shape', once each, found " + quoted(key));
      if (!skip(',') && peek() != '}') refuse("',' or '}'");
    }
    if (!type || !fortran_order || !shape) refuse("'descr', 'fortran_order' and 'shape' in the header");
    if (peek() != '\0' || place_ != end_) refuse("the end of the header");
    return {*type, *fortran_order, *std::move(shape), shape_place_, end_};
  }

 private:
  const char* next() {
    while (place_ != end_ && is_space(*place_)) ++place_;
    return place_;
  }
  char peek() { return next() == end_ ? '\0' : *place_; }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  bool skip(char c) {
    if (peek() != c) return false;
    ++place_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) refuse(fmt::format("'{}'", c));
  }
  bool skip_word(std::string_view word) {
    if (!std::string_view(next(), end_).starts_with(word)) return false;
    place_ += word.size();
    return true;
  }

  [[noreturn]] void refuse(const std::string& expected) {
    const std::string_view rest(next(), std::size_t(end_ - place_));
    file_.refuse_byte(place_, fmt::format("expected {}, found {}", expected,
                                          rest.empty() ? "the end of the header" : quoted(rest.substr(0, 20))));
  }

  std::string_view read_string(const char* expected) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse(expected);
    const char* const begin = place_ + 1;
    const char* const end = std::find(begin, end_, quote);
    if (end == end_) refuse(expected);
    place_ = end + 1;
    return {begin, end};
  }

  std::string_view read_type() {
    constexpr const char* expected = "elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1";
    const char* const start = next();
    const std::string_view type = read_string(expected);
    if (!with_element(type, [](auto, const char*) {})) {
      const char kind = type.size() > 1 ? type[1] : ' ';
      file_.refuse_byte(
          start,
          fmt::format("expected {}, found {}{}", expected, quoted(type),
                      kind == 'c'   ? ": complex numbers, and only real systems are solved"
                      : kind == 'O' ? ": objects of Python; save A.astype(float), or A.toarray() of a sparse matrix"
                                    : ""));
    }
    return type;
  }

  bool read_bool() {
    if (skip_word("True")) return true;
    if (!skip_word("False")) refuse("True or False");
    return false;
  }

  std::vector<std::int64_t> read_shape() {
    shape_place_ = next();
    std::vector<std::int64_t> shape;
    expect('(');
    while (!skip(')')) {
      shape.push_back(read_size());
      if (!skip(',') && peek() != ')') refuse("',' or ')'");
    }
    if (shape.size() != 1 && shape.size() != 2)
      file_.refuse_byte(shape_place_, fmt::format("expected an array of 1 or 2 dimensions, found {}", shape.size()));
    return shape;
  }

  std::int64_t read_size() {
    constexpr int most_digits = 18;
    std::int64_t size = 0;
    const char* const begin = next();
    const char* end = begin;
    for (; end != end_ && end - begin < most_digits && *end >= '0' && *end <= '9'; ++end)
      size = 10 * size + (*end - '0');
    if (end == begin || (end != end_ && *end >= '0' && *end <= '9')) refuse("a size from 0 on, of at most 18 digits");
    if (end != end_ && *end == 'L') ++end;  // a long of Python 2
    place_ = end;
    return size;
  }

  const InputFile& file_;
  const char* place_;
  const char* shape_place_ = nullptr;
  const char* const end_;
};

NpyHeader read_header(const InputFile& file) {
  const auto byte = [&](std::size_t i) { return std::size_t(static_cast<unsigned char>(file.begin()[i])); };
  const std::size_t major = byte(6), minor = byte(7);  // of a file that is too short, 0
  if (major < 1 || major > 3 || minor != 0)
    file.refuse_byte(file.begin() + 6, fmt::format("expected .npy version 1.0, 2.0 or 3.0, found {}.{}", major, minor));
  const std::size_t prefix = major == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (file.content().size() < prefix + length)
    file.refuse_byte(file.end(),
                     fmt::format("expected a header up to byte {}, found the end of the file", prefix + length));
  return DictionaryReader(file, file.begin() + prefix, file.begin() + prefix + length).read();
}

/// "6442450944 bytes (6.0 GiB)"
std::string bytes(std::int64_t count) {
  constexpr std::int64_t many = 1 << 20;
  return fmt::format("{} bytes{}", count, count < many ? "" : fmt::format(" ({})", in_bytes(double(count))));
}

void check_size(const InputFile& file, const NpyHeader& header, const ReadOptions& options) {
  const std::int64_t rows = header.rows(), cols = header.cols(), found = file.end() - header.data;
  if (const auto why = why_not_addressable(rows, cols); !why.empty()) file.refuse_byte(header.place, why);
  const std::int64_t expected = rows * cols * header.element_bytes();
  if (found != expected)
    file.refuse_byte(header.data + std::min(found, expected),
                     fmt::format("expected {} of data, found {}{}", bytes(expected), bytes(found),
                                 found < expected ? ": is the file complete?" : ""));
  if (options.sharing) return;
  if (const auto why = why_no_memory(rows, cols, options.bytes_an_element); !why.empty())
    throw MachineError(fmt::format("{}: error: {}", file.name_of_byte(header.place), why));
}

template <class T>
T element(const char* data, bool big_endian) {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), data, sizeof(T));
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Whether a double that an element became is finite and, of an integer, the same number.
template <class T>
bool is_kept(T element, double x) {
  if constexpr (std::integral<T> && sizeof(T) == 8) {
    constexpr double beyond = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
    return x < beyond && T(x) == element;
  } else {
    return std::isfinite(x);
  }
}

/// Copies the elements from (i0, j0) on into A, in smaller blocks since either order may be the other one than A's. Returns whether
/// all are kept.
template <class T>
bool copy_block(const NpyHeader& header, std::int64_t i0, std::int64_t j0, MatrixView<double> A) {
  constexpr std::int64_t block = 64;
  const bool big_endian = header.big_endian();
  const std::int64_t down = sizeof(T) * (header.fortran_order ? 1 : header.cols());
  const std::int64_t right = sizeof(T) * (header.fortran_order ? header.rows() : 1);
  const char* const first = header.data + i0 * down + j0 * right;
  bool kept = true;
  for (std::int64_t jb = 0; jb < A.cols(); jb += block)
    for (std::int64_t ib = 0; ib < A.rows(); ib += block)
      for (std::int64_t j = jb; j < std::min(jb + block, A.cols()); ++j)
        for (std::int64_t i = ib; i < std::min(ib + block, A.rows()); ++i) {
          const T x = element<T>(first + i * down + j * right, big_endian);
          A(i, j) = double(x);
          kept = kept && is_kept(x, A(i, j));
        }
  return kept;
}

/// Copies the elements into A by several threads, in bands of what lies one after the other in the file: rows or columns. Returns
/// whether all are kept.
template <class T>
bool copy_elements(const NpyHeader& header, const ReadOptions& options, MatrixView<double> A) {
  if (A.empty()) return true;
  constexpr std::int64_t line = 8;  // elements
  constexpr double work_of_an_element = 4;
  const bool by_columns = header.fortran_order;
  const std::int64_t length = by_columns ? A.cols() : A.rows(), bytes = A.rows() * A.cols() * header.element_bytes();
  const std::int64_t band = round_up(ceil_div(length, parts_of_text(bytes, options.threads)), line);
  const double work = work_of_an_element * double(A.rows()) * double(A.cols());
  std::atomic<bool> all_kept = true;
  in_rounds(ceil_div(length, band), options.threads, work, options.progress, [&](std::int64_t p) {
    const std::int64_t first = p * band, count = std::min(band, length - first);
    if (!(by_columns ? copy_block<T>(header, 0, first, A.columns(first, count))
                     : copy_block<T>(header, first, 0, A.block(first, 0, count, A.cols()))))
      all_kept = false;
  });
  return all_kept;
}

/// The same of a part, in the order of the file, so that each of its pages is read once.
template <class T>
bool copy_elements(const NpyHeader& header, const BlockCyclic& part, MatrixView<double> A) {
  bool kept = true;
  const auto copy = [&](auto i, auto j, auto m, auto n, auto at_i, auto at_j) {
    kept = copy_block<T>(header, i, j, A.block(at_i, at_j, m, n)) && kept;
  };
  part.for_each_block(copy, header.fortran_order);
  return kept;
}

/// Names the first element that is not kept. Infinities and NaNs may be allowed; other integers than those are not.
template <class T>
void refuse_first_not_kept(const InputFile& file, const NpyHeader& header) {
  const std::int64_t rows = header.rows(), cols = header.cols();
  for (std::int64_t k = 0; k < rows * cols; ++k) {
    const std::int64_t i = header.fortran_order ? k % rows : k / cols;
    const std::int64_t j = header.fortran_order ? k / rows : k % cols;
    const char* const place = header.data + k * header.element_bytes();
    const T x = element<T>(place, header.big_endian());
    const auto as_double = double(x);
    if (is_kept(x, as_double)) continue;
    const std::string index = header.shape.size() == 1 ? fmt::format("[{}]", i) : fmt::format("[{}, {}]", i, j);
    if constexpr (std::integral<T>)
      file.refuse_byte(place,
                       fmt::format("expected an integer that a double holds exactly, found {} at index {}", x, index));
    else
      file.refuse_byte(place, fmt::format("expected a finite number, found {} at index {}; --allow-nonfinite reads it",
                                          as_double, index));
  }
}

}  // namespace

MatrixFile read_npy(const InputFile& file, const ReadOptions& options) {
  if (!file.content().starts_with(npy_magic))
    file.refuse_byte(file.begin(), "expected \"\\x93NUMPY\", found " + quoted(file.content().substr(0, 6)));
  const NpyHeader header = read_header(file);
  check_size(file, header, options);
  const std::string place = file.name_of_byte(header.place);
  const auto part =
      options.sharing ? std::optional(options.sharing->part(header.rows(), header.cols(), place)) : std::nullopt;
  MatrixFile result{
      part ? Matrix<double>(part->rows.count(), part->cols.count()) : Matrix<double>(header.rows(), header.cols()),
      place,
      {},
      false};
  result.is_vector = header.shape.size() == 1;
  with_element(header.type, [&]<class T>(Element<T>, const char* name) {
    const bool kept =
        part ? copy_elements<T>(header, *part, result.matrix) : copy_elements<T>(header, options, result.matrix);
    if (!kept && (std::integral<T> || !options.allow_nonfinite)) refuse_first_not_kept<T>(file, header);
    if (!std::same_as<T, double>)
      result.notes.push_back(
          fmt::format("{}: note: {} elements {} float64", file.name(), name,
                      std::floating_point<T> || std::same_as<T, Half> ? "were widened to" : "became"));
  });
  return result;
}

void write_npy(OutputFile& file, MatrixView<const double> A, bool is_vector, const Progress& progress) {
  constexpr std::size_t prefix = 10, alignment = 64;
  const std::string shape = is_vector ? fmt::format("{},", A.rows()) : fmt::format("{}, {}", A.rows(), A.cols());
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}), }}", shape);
  header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ').append("\n");
  file.append(npy_magic);
  file.append({"\x01\x00", 2});
  const char length[] = {char(header.size() & 0xFF), char(header.size() >> 8)};
  file.append({length, 2});
  file.append(header);
  Teller tell(progress, A.cols());
  for (std::int64_t j = 0; j < A.cols() && !A.empty(); ++j) {
    tell(j);
    file.append({reinterpret_cast<const char*>(A.data() + j * A.ld()), std::size_t(A.rows()) * sizeof(double)});
  }
}

}  // namespace lasolve::io
