#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "io_files.hpp"

namespace lasolve::io::npy_test {
namespace {

/// A .npy file with this dictionary and these elements, which are written as `Real` in the byte order of `order`.
template <class Real>
std::string npy(int version, const std::string& dictionary, const std::vector<Real>& elements, char order = '<') {
  std::string content = std::string("\x93NUMPY") + char(version) + '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) content += char(dictionary.size() >> 8 * k & 0xFF);
  content += dictionary;
  for (const Real x : elements) {
    std::string bytes(reinterpret_cast<const char*>(&x), sizeof x);
    if (order == '>') std::reverse(bytes.begin(), bytes.end());
    content += bytes;
  }
  return content;
}

std::string dictionary(const std::string& type, bool fortran, const std::string& shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}    \n", type, fortran ? "True" : "False",
                     shape);
}

MatrixFile read(std::string_view content, const ReadOptions& options = {}) {
  return read_matrix(file_with(content, "test.npy"), options);
}

const std::vector<double> six = {1, 2, 3, 4, 5, 6.5};
const std::vector<float> six_floats = {1, 2, 3, 4, 5, 6.5};

TEST(Npy, ReadsEveryVersionTypeOrderAndShape) {
  const Rows by_rows = {{1, 2, 3}, {4, 5, 6.5}}, by_columns = {{1, 3, 5}, {2, 4, 6.5}};
  const Rows column = {{1}, {2}, {3}, {4}, {5}, {6.5}};
  for (const int version : {1, 2, 3})
    for (const char order : {'<', '>'})
      for (const bool fortran : {false, true}) {
        const Rows& expected = fortran ? by_columns : by_rows;
        const std::string f8 = fmt::format("{}f8", order), f4 = fmt::format("{}f4", order);
        EXPECT_EQ(rows_of(read(npy(version, dictionary(f8, fortran, "(2, 3)"), six, order)).matrix), expected);
        EXPECT_EQ(rows_of(read(npy(version, dictionary(f4, fortran, "(2, 3)"), six_floats, order)).matrix), expected);
        EXPECT_EQ(rows_of(read(npy(version, dictionary(f8, fortran, "(6,)"), six, order)).matrix), column);
      }
  EXPECT_EQ(rows_of(read(npy(1, "{\"shape\":(2,3),\"descr\":\"<f8\",\"fortran_order\":False}", six)).matrix), by_rows);
  EXPECT_EQ(rows_of(read(npy(1, dictionary("<f8", false, "(2L, 3L)"), six)).matrix), by_rows) << "as Python 2 writes";
  EXPECT_EQ(read(npy<double>(1, dictionary("<f8", false, "(0, 3)"), {})).matrix.cols(), 3);
}

TEST(Npy, ReadsWhatHasNoElementsWhateverItsOtherSize) {
  for (const char* type : {"<f8", ">f4"})
    for (const bool fortran : {false, true}) {
      const MatrixFile wide = read(npy<double>(1, dictionary(type, fortran, "(0, 100000000000000000)"), {}));
      EXPECT_EQ(wide.matrix.rows(), 0);
      EXPECT_EQ(wide.matrix.cols(), 100000000000000000);
      const MatrixFile tall = read(npy<double>(1, dictionary(type, fortran, "(999999999999999999, 0)"), {}));
      EXPECT_EQ(tall.matrix.rows(), 999999999999999999);
      EXPECT_EQ(tall.place, fmt::format("{}test.npy: byte {}", test_folder(), fortran ? 59 : 60));
    }
}

TEST(Npy, SaysThatSinglePrecisionWasWidened) {
  EXPECT_EQ(read(npy(1, dictionary("<f4", false, "(6,)"), six_floats)).notes,
            std::vector<std::string>{test_folder() + "test.npy: note: float32 elements were widened to float64"});
  EXPECT_TRUE(read(npy(1, dictionary("<f8", false, "(6,)"), six)).notes.empty());
}

/// Reads -1, 2 and 3 of an integer type T, in both byte orders where it has two.
template <class T>
void expect_read(const std::string& code, const std::string& name) {
  for (const char order : {'<', '>'}) {
    const std::string type = (sizeof(T) == 1 && order == '>' ? '|' : order) + code;
    const MatrixFile file = read(npy<T>(1, dictionary(type, false, "(3,)"), {T(-1), 2, 3}, order));
    EXPECT_EQ(rows_of(file.matrix), (Rows{{double(T(-1))}, {2}, {3}})) << type;
    EXPECT_EQ(file.notes, std::vector{test_folder() + "test.npy: note: " + name + " elements became float64"});
  }
}

TEST(Npy, ReadsIntegersBoolsAndHalves) {
  expect_read<std::int8_t>("i1", "int8");
  expect_read<std::int16_t>("i2", "int16");
  expect_read<std::int32_t>("i4", "int32");
  expect_read<std::int64_t>("i8", "int64");
  expect_read<std::uint8_t>("u1", "uint8");
  expect_read<std::uint16_t>("u2", "uint16");
  expect_read<std::uint32_t>("u4", "uint32");
  const auto bools = read(npy<std::uint8_t>(1, dictionary("|b1", false, "(2, 2)"), {1, 0, 0, 1}));
  EXPECT_EQ(rows_of(bools.matrix), (Rows{{1, 0}, {0, 1}}));
  // 1, the least and the largest subnormal number, the least normal one, the largest, -2, 1/3 rounded
  const std::vector<std::uint16_t> halves = {0x3C00, 1, 0x03FF, 0x0400, 0x7BFF, 0xC000, 0x3555};
  for (const char order : {'<', '>'}) {
    const MatrixFile file = read(npy(1, dictionary(std::string(1, order) + "f2", false, "(7,)"), halves, order));
    EXPECT_EQ(rows_of(file.matrix), (Rows{{1}, {0x1p-24}, {0x3FFp-24}, {0x1p-14}, {65504}, {-2}, {0.333251953125}}));
    EXPECT_EQ(file.notes.at(0), test_folder() + "test.npy: note: float16 elements were widened to float64");
  }
  EXPECT_NE(error_of(npy<std::uint16_t>(1, dictionary("<f2", false, "(2,)"), {0, 0xFC00}), {}, "test.npy")
                .find("expected a finite number, found -inf at index [1]"),
            std::string::npos);
}

TEST(Npy, SaysThatThereIsNoMemory) {
  const std::string content = npy<double>(1, dictionary("<f8", false, "(100, 100)"), std::vector<double>(10000));
  try {
    read(content, {.bytes_an_element = std::numeric_limits<int>::max()});
    ADD_FAILURE() << "it was read";
  } catch (const MachineError& e) {
    EXPECT_NE(std::string(e.what()).find("test.npy"), std::string::npos) << e.what();
  }
}

TEST(Npy, RefusesIntegersThatNoDoubleHolds) {
  const std::int64_t last = std::int64_t(1) << 53, most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(rows_of(read(npy<std::int64_t>(1, dictionary("<i8", false, "(3,)"), {last, -last, -most - 1})).matrix),
            (Rows{{0x1p53}, {-0x1p53}, {-0x1p63}}));
  for (const auto& [type, value] : {std::pair<std::string, std::int64_t>{"<i8", last + 1},
                                    {"<i8", -last - 1},
                                    {"<i8", most},
                                    {"<u8", last + 1},
                                    {"<u8", -1}}) {
    const std::string content = npy<std::int64_t>(1, dictionary(type, false, "(2,)"), {0, value});
    const std::string error = error_of(content, {.allow_nonfinite = true}, "test.npy");
    EXPECT_NE(error.find("error: expected an integer that a double holds exactly, found "), error.npos) << error;
    EXPECT_TRUE(error.ends_with(" at index [1]")) << error;
  }
}

TEST(Npy, HearsOfProgressAndReadsLongFilesWholeInEitherOrder) {
  constexpr std::int64_t rows = 1100, cols = 1003;  // more than two parts, and no multiple of a block
  std::vector<double> elements(rows * cols);
  std::iota(elements.begin(), elements.end(), 0.0);
  for (const bool fortran : {false, true})
    for (const int threads : {1, 3}) {
      std::vector<double> received;
      ReadOptions options;
      options.threads = threads;
      options.progress = [&](double fraction) { received.push_back(fraction); };
      const MatrixFile file = read(npy(1, dictionary("<f8", fortran, "(1100, 1003)"), elements), options);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j)
          wrong += file.matrix(i, j) != double(fortran ? i + j * rows : i * cols + j);
      EXPECT_EQ(wrong, 0) << fortran << ", " << threads;
      ASSERT_GE(received.size(), threads == 1 ? 2u : 1u);
      EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
      EXPECT_EQ(received.back(), 1);
    }
}

TEST(Npy, VectorsStayVectors) {
  const std::string vector = npy(1, dictionary("<f8", false, "(6,)"), six);
  EXPECT_TRUE(read(vector).is_vector);
  EXPECT_FALSE(read(npy(1, dictionary("<f8", false, "(6, 1)"), six)).is_vector);
  const Matrix<double> x = read(vector).matrix;
  const std::string path = test_folder() + "vector.npy";
  write_matrix(path, x, {}, {.is_vector = true});
  EXPECT_NE(content_of(path).find("'shape': (6,), }"), std::string::npos);
  EXPECT_TRUE(read_matrix(path).is_vector);
  EXPECT_EQ(rows_of(read_matrix(path).matrix), rows_of(x));
}

TEST(Npy, SaysWhereAFileIsWrong) {
  const std::string good = npy(1, dictionary("<f8", false, "(2, 3)"), six);  // data start at byte 74
  const auto headed = [](const std::string& text) { return npy(1, text, six); };
  const struct {
    std::string content, message;
  } cases[] = {
      {npy(4, "", six), "byte 6: error: expected .npy version 1.0, 2.0 or 3.0, found 4.0"},
      {"\x93NUMPY", "byte 6: error: expected .npy version 1.0, 2.0 or 3.0, found 0.0"},
      {good.substr(0, 30), "byte 30: error: expected a header up to byte 74, found the end of the file"},
      {good.substr(0, good.size() - 1), "byte 121: error: expected 48 bytes of data, found 47"},
      {good + "x", "byte 122: error: expected 48 bytes of data, found 49"},
      {headed(dictionary("|O", false, "(6,)")),
       R"(byte 20: error: expected elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1, found "|O")"},
      {headed(dictionary("|i8", false, "(6,)")), R"(found "|i8")"},
      {headed(dictionary("<i3", false, "(6,)")), R"(found "<i3")"},
      {headed(dictionary("<c16", false, "(6,)")), R"(i1 to i8, u1 to u8 or b1, found "<c16")"},
      {headed("{'descr': [('a', '<f8')], "), R"(byte 20: error: expected elements of type f2, f4, f8, i1 to)"},
      {headed(dictionary("<f8", false, "(1, 2, 3)")), "expected an array of 1 or 2 dimensions, found 3"},
      {headed(dictionary("<f8", false, "()")), "expected an array of 1 or 2 dimensions, found 0"},
      {headed(dictionary("<f8", false, "(-2, 3)")),
       R"(expected a size from 0 on, of at most 18 digits, found "-2, 3))"},
      {headed(dictionary("<f8", false, "(9999999999999999999,)")), "expected a size from 0 on, of at most 18 digits"},
      {headed(dictionary("<f8", false, "(4000000000, 4000000000)")),
       "byte 60: error: expected a matrix of at most 2^62 bytes"},
      {headed(dictionary("<f8", false, "(2 3)")), "expected ',' or ')', found \"3)"},
      {headed("{'descr': '<f8', 'fortran_order': 0, "), R"(byte 44: error: expected True or False, found "0, ")"},
      {headed("{'descr': '<f8', 'shape': (6,)}"), "expected 'descr', 'fortran_order' and 'shape' in the header"},
      {headed("{'descr': '<f8', 'descr': '<f8'}"),
       R"(byte 27: error: expected 'descr', 'fortran_order' and 'shape', once)"},
      {headed("{'order': 1}"),
       R"(byte 11: error: expected 'descr', 'fortran_order' and 'shape', once each, found "order")"},
      {headed("'descr'"), "byte 10: error: expected '{', found \"'descr'\""},
      {headed("{'descr"), "byte 11: error: expected a key in quotes, found \"'descr\""},
      {headed("{'descr': '<f8' 'shape'"), "expected ',' or '}', found \"'shape'\""},
      {headed("{'descr': '<f8',"), "byte 26: error: expected a key in quotes, found the end of the header"},
      {headed("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)} x"),
       R"(expected the end of the header, found "x")"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.content, {}, "test.npy");
    EXPECT_TRUE(error.starts_with("test.npy: ")) << error;
    EXPECT_NE(error.find(c.message), error.npos) << error << "\nexpected " << c.message;
  }
}

TEST(Npy, RefusesNonfiniteWithItsIndexUnlessAllowed) {
  const std::vector<double> x = {1, 2, 3, NAN, -INFINITY, 6};
  const std::string square = npy(1, dictionary("<f8", false, "(2, 3)"), x);
  EXPECT_EQ(
      error_of(square, {}, "test.npy"),
      "test.npy: byte 98: error: expected a finite number, found nan at index [1, 0]; --allow-nonfinite reads it");
  const std::string fortran = npy(1, dictionary("<f8", true, "(2, 3)"), x);
  EXPECT_NE(error_of(fortran, {}, "test.npy").find("found nan at index [1, 1]"), std::string::npos);
  const std::string line = npy(1, dictionary("<f8", false, "(6,)"), x);
  EXPECT_NE(error_of(line, {}, "test.npy").find("found nan at index [3]"), std::string::npos);
  EXPECT_EQ(read(square, {.allow_nonfinite = true}).matrix(1, 1), -INFINITY);
}

}  // namespace
}  // namespace lasolve::io::npy_test
