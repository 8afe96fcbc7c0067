#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io_files.hpp"

namespace lasolve::io {
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
      {headed(dictionary("<i8", false, "(6,)")), R"(byte 20: error: expected elements of type f4 or f8, found "<i8")"},
      {headed(dictionary("|O", false, "(6,)")), R"(byte 20: error: expected elements of type f4 or f8, found "|O")"},
      {headed(dictionary("<c16", false, "(6,)")), R"(expected elements of type f4 or f8, found "<c16")"},
      {headed("{'descr': [('a', '<f8')], "), R"(byte 20: error: expected elements of type f4 or f8, found "[('a',)"},
      {headed(dictionary("<f8", false, "(1, 2, 3)")), "expected an array of 1 or 2 dimensions, found 3"},
      {headed(dictionary("<f8", false, "()")), "expected an array of 1 or 2 dimensions, found 0"},
      {headed(dictionary("<f8", false, "(-2, 3)")), R"(expected a size of at most 18 digits, found "-2, 3))"},
      {headed(dictionary("<f8", false, "(9999999999999999999,)")), "expected a size of at most 18 digits"},
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
  EXPECT_EQ(error_of(square, {}, "test.npy"),
            "test.npy: byte 98: error: expected a finite number, found nan at index [1, 0]");
  const std::string fortran = npy(1, dictionary("<f8", true, "(2, 3)"), x);
  EXPECT_NE(error_of(fortran, {}, "test.npy").find("found nan at index [1, 1]"), std::string::npos);
  const std::string line = npy(1, dictionary("<f8", false, "(6,)"), x);
  EXPECT_NE(error_of(line, {}, "test.npy").find("found nan at index [3]"), std::string::npos);
  EXPECT_EQ(read(square, {.allow_nonfinite = true}).matrix(1, 1), -INFINITY);
}

}  // namespace
}  // namespace lasolve::io
