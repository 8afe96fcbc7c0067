#include <fmt/format.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <random>

#include "compress.hpp"
#include "io_files.hpp"

namespace lasolve::io {
namespace {

using test::compressed;

const std::string array = "%%MatrixMarket matrix array real general\n";
const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
std::string banner(const std::string& rest) { return "%%MatrixMarket matrix " + rest + "\n"; }

Rows read(std::string_view content, const ReadOptions& options = {}) {
  return rows_of(read_matrix(file_with(content), options).matrix);
}

TEST(MatrixMarket, ReadsEveryKind) {
  const struct {
    std::string content;
    Rows rows;
  } cases[] = {
      {array + "2 3\n1\n2\n3\n4\n5\n6\n", {{1, 3, 5}, {2, 4, 6}}},
      {banner("array integer general") + "2 1\n-1\n+2\n", {{-1}, {2}}},
      {banner("array real symmetric") + "3 3\n1\n2\n3\n4\n5\n6\n", {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}},
      {banner("array real skew-symmetric") + "3 3\n1\n2\n3\n", {{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}},
      {coordinate + "2 3 2\n1 1 1.5\n2 3 -2\n", {{1.5, 0, 0}, {0, 0, -2}}},
      {banner("coordinate integer general") + "2 2 1\n2 1 7\n", {{0, 0}, {7, 0}}},
      {banner("coordinate pattern general") + "2 2 2\n1 2\n2 1\n", {{0, 1}, {1, 0}}},
      {banner("coordinate pattern symmetric") + "2 2 2\n1 1\n2 1\n", {{1, 1}, {1, 0}}},
      {banner("coordinate real symmetric") + "2 2 2\n2 1 3\n2 2 4\n", {{0, 3}, {3, 4}}},
      {banner("coordinate real skew-symmetric") + "2 2 1\n2 1 3\n", {{0, -3}, {3, 0}}},
      {banner("coordinate real symmetric") + "2 2 2\n1 2 3\n2 2 4\n", {{0, 3}, {3, 4}}},
      {banner("coordinate real skew-symmetric") + "2 2 1\n1 2 3\n", {{0, 3}, {-3, 0}}},
      {banner("coordinate pattern symmetric") + "3 3 2\n1 3\n3 2\n", {{0, 0, 1}, {0, 0, 1}, {1, 1, 0}}},
      {array + "0 0\n", {}},
      {coordinate + "1 2 0\n", {{0, 0}}},
  };
  for (const auto& c : cases) EXPECT_EQ(read(c.content), c.rows) << c.content;
}

TEST(MatrixMarket, ReadsAndWritesWhatHasNoElementsWhateverItsOtherSize) {
  for (const std::string format : {"array real general\n", "coordinate pattern general\n"})
    for (const auto& [rows, cols] :
         {std::pair<std::int64_t, std::int64_t>(0, 999999999999999999), {999999999999999999, 0}}) {
      const std::string sizes = fmt::format("{} {}{}\n", rows, cols, format[0] == 'a' ? "" : " 0");
      const MatrixFile file = read_matrix(file_with(banner(format) + " " + sizes));
      EXPECT_EQ(file.matrix.rows(), rows);
      EXPECT_EQ(file.matrix.cols(), cols);
      EXPECT_EQ(file.place, test_folder() + "test.mtx:3:2");
      const std::string path = test_folder() + "back.mtx";
      write_matrix(path, file.matrix);
      EXPECT_EQ(content_of(path), array + fmt::format("{} {}\n", rows, cols));
      EXPECT_EQ(
          error_of(banner(format) + sizes + "1 1\n").find("test.mtx:4:1: error: expected the end of the file after 0"),
          0);
    }
}

TEST(MatrixMarket, ReadsEveryWayOfWriting) {
  const Rows expected = {{1, 3}, {2, 4}};
  const std::string contents[] = {
      "%%matrixmarket MATRIX Array REAL General\n2 2\n1\n2\n3\n4\n",
      "\xEF\xBB\xBF" + array + "2 2\n1\n2\n3\n4\n",
      " \n\t" + array + "2 2\n1\n2\n3\n4\n",
      array.substr(1) + "2 2\n1\n2\n3\n4\n",
      "%%MatrixMarket matrix array real general\r2 2\r1\r2\r3\r4\r",
      "%%MatrixMarket  matrix\tarray real general  \r\n% comment\r\n\r\n  2\t2 \r\n1\r\n2\r\n3\r\n4\r\n",
      array + "%\n  % indented\n\n2 2\n\n1\n% 9 9\n\n2 3\n  %\n%4\n4\n% end\n\n%",
      array + "2 2\n1 2 3 4",
      array + "2 2\n+1.0\n2.\n.3E+1\n40.0D-01",
      array + "2 2\n1\n2\n3" + std::string(3000, ' ') + "4",
      coordinate + "% c\n2 2 4\n% c\n\n2 2 4\n\t1 1 1 \n%\n 2\t1\t2\r\n1 2 3",
  };
  for (const std::string& content : contents) EXPECT_EQ(read(content), expected) << content;
}

TEST(MatrixMarket, SaysWhereAFileIsWrong) {
  const std::string a22 = array + "2 2\n", c22 = coordinate + "2 2 2\n";
  const struct {
    std::string content, place, message;
  } cases[] = {
      // banner
      {"1 2\n3 4\n", "1:1",
       R"(expected the banner %%MatrixMarket matrix array|coordinate ..., or a .npy file, found "1")"},
      {"%%MatrixMarkt matrix array real general\n", "1:1", R"(, found "%%MatrixMarkt")"},
      {"%%MatrixMarket\n", "1:15", "expected matrix, found the end of the line"},
      {"%%MatrixMarket", "1:15", "expected matrix, found the end of the file"},
      {"%%MatrixMarket vector array real general\n", "1:16",
       R"(expected matrix, found "vector": vector is not supported)"},
      {"%%MatrixMarket graph array real general\n", "1:16", R"(expected matrix, found "graph")"},
      {banner("dense real general"), "1:23", R"(expected array or coordinate, found "dense")"},
      {banner("array Complex general"), "1:29",
       R"(expected real, integer or pattern, found "Complex": complex is not supported)"},
      {banner("array double general"), "1:29", R"(expected real, integer or pattern, found "double")"},
      {banner("array pattern general"), "1:29",
       R"(expected real or integer, found "pattern": only a coordinate file can be a pattern)"},
      {banner("array real hermitian"), "1:34",
       R"(expected general, symmetric or skew-symmetric, found "hermitian": hermitian is not supported)"},
      {banner("array real"), "1:33", "expected general, symmetric or skew-symmetric, found the end of the line"},
      {banner("coordinate pattern skew-symmetric"), "1:42",
       R"(expected general or symmetric, found "skew-symmetric": a pattern has no signs)"},
      {banner("array real general 3"), "1:42", R"(expected the end of the line, found "3")"},
      // sizes
      {array, "2:1", "expected a number of rows, found the end of the file"},
      {array + "2\n1\n2\n", "2:2", "expected a number of columns, found the end of the line"},
      {array + "2 2 4\n", "2:5", R"(expected the end of the line, found "4")"},
      {array + "-2 2\n", "2:1", R"(expected a number of rows, found "-2")"},
      {array + "2 2.0\n", "2:3", R"(expected a number of columns, found "2.0")"},
      {array + "1000000000000000000 1\n", "2:1",
       R"(expected a number of rows from 0 to 999999999999999999, found "1000000000000000000")"},
      {array + "2000000000 2000000000\n1\n", "2:1",
       "expected a matrix of at most 2^62 bytes, found 2000000000 x 2000000000 elements of 8"},
      {array + "100000000 1000000000\n1\n", "4:1",
       "expected 100000000000000000 values, found the end of the file after 1"},
      {array + "10000 10000\n1\n% 9\n2\n", "6:1", "expected 100000000 values, found the end of the file after 2"},
      {coordinate + "2 2\n1 1 1\n", "2:4", "expected a number of entries, found the end of the line"},
      {coordinate + "2 2 1 1\n1 1 1\n", "2:7", R"(expected the end of the line, found "1")"},
      {coordinate + "2 2 999999999\n1 1 1\n%\n2 2 2\n", "6:1",
       "expected 999999999 entries, found the end of the file after 2"},
      {banner("array real symmetric") + "2 3\n", "2:3",
       "expected 2 columns, as a symmetric matrix has as many as rows, found 3"},
      {banner("coordinate real skew-symmetric") + "3 2 0\n", "2:3", "expected 3 columns"},
      // how many values
      {a22 + "1.25\n2.25\n3.25\n", "6:1", "expected 4 values, found the end of the file after 3"},
      {a22 + "1.25 2.25 3.25", "3:15", "expected 4 values, found the end of the file after 3"},
      {a22 + "1\n2\n3\n4\n% c\n 5\n", "8:2", R"(expected the end of the file after 4 values, found "5")"},
      {a22 + "1 2 3 4 5\n", "3:9", R"(expected the end of the file after 4 values, found "5")"},
      {array + "1 1\n7\n8\n", "4:1", R"(expected the end of the file after 1 value, found "8")"},
      {banner("array real skew-symmetric") + "2 2\n1\n2\n", "4:1", R"(after 1 value, found "2")"},
      {c22 + "1 1 1.0\n     \n", "5:1", "expected 2 entries, found the end of the file after 1"},
      // too few, and one is a word: that is said first
      {array + "10000 10000\n1\nabc\n2\n", "4:1", R"(expected a number, found "abc")"},
      {array + "10000 10000\n1\nNaN\n2", "5:2", "expected 100000000 values, found the end of the file after 3"},
      {array + "10000 10000\n1\n1.5e", "4:5", "expected 100000000 values, found the end of the file after 2"},
      {coordinate + "2 2 999999999\n1 1 x\n2 2 2\n", "3:5", R"(expected a number, found "x")"},
      {banner("coordinate pattern general") + "2 2 999999999\n1 x\n2 2\n", "3:3", R"(expected a number, found "x")"},
      {c22 + "1 1 1\n1 2 1\n2 2 1\n", "5:1", R"(expected the end of the file after 2 entries, found "2")"},
      // values
      {a22 + "1\n1,5\n3\n4\n", "4:1", R"(found "1,5"; a comma is neither a decimal mark nor)"},
      {a22 + "1\n2\n3\nNaN\n", "6:1", R"(expected a finite number, found "NaN")"},
      {a22 + "1\n2 -Inf\n3\n", "4:3", R"(expected a finite number, found "-Inf")"},
      {a22 + "1\n2\n3\n1e999\n", "6:1", R"(expected a number in the range of a double, found "1e999")"},
      {a22 + "1\n0x1p3\n3\n4\n", "4:1", "hexadecimal is not supported"},
      {a22 + "1\n\t1.0+10\n3\n4\n", "4:2", "an exponent needs its letter"},
      {a22 + "1\n1.0abc\n3\n4\n", "4:1", R"(expected a number, found "1.0abc")"},
      {a22 + "1\n2 % two\n3\n4\n", "4:3", R"(expected a number, found "%")"},
      {a22 + "1\n2\n3\n4 % four\n", "6:3", R"(found "%")"},
      {a22 + "1\n2" + std::string(1, '\0') + "\n3\n4\n", "4:2", R"(expected a number, found "\x00")"},
      {a22 + "1\n2\n3\n4" + std::string(1, '\0') + "\n", "6:2", R"(after 4 values, found "\x00")"},
      {a22 + "1\n2\x01\n3\n4\n", "4:1", R"(expected a number, found "2\x01")"},
      {a22 + "1\f2\n3\n4\n5\n", "3:1", R"(found "1\x0C2")"},
      {banner("array integer general") + "2 1\n1\n1.5\n", "4:1",
       R"(expected an integer, as the banner says, found "1.5")"},
      {banner("array integer general") + "1 1\n9007199254740993\n", "3:1",
       "expected an integer that a double holds exactly"},
      // entries
      {c22 + "0 1 1\n1 2 1\n", "3:1", R"(expected a row index from 1 to 2, found "0")"},
      {c22 + "1 3 1\n1 2 1\n", "3:3", R"(expected a column index from 1 to 2, found "3")"},
      {c22 + "1 -1 1\n1 2 1\n", "3:3", R"(expected a column index, found "-1")"},
      {c22 + "1.0 1 1\n1 2 1\n", "3:1", R"(expected a row index, found "1.0")"},
      {c22 + "1 99999999999999999999 1\n1 2 1\n", "3:3", "expected a column index from 1 to 2"},
      {c22 + "1 2\n1 2 1\n 1 ", "3:4", "expected a number, found the end of the line"},
      {c22 + "1\n1 2 1\n 1 1 ", "3:2", "expected a column index, found the end of the line"},
      {c22 + "1 1 1\n1 2 1 9\n", "4:7", R"(expected the end of the line after an entry, found "9")"},
      {c22 + "1 1 1\n1 2 1,5\n", "4:5", "a comma is neither a decimal mark nor"},
      {c22 + "1 1 1" + std::string(1, '\0') + "\n1 2 1\n", "3:6", R"(found "\x00")"},
      {c22 + "1 1 1e308\n1 1 1e308\n", "4:1", "expected entries whose sum is in the range of a double"},
      {banner("coordinate pattern general") + "2 2 2\n1 1\n2 2 1.0\n", "4:5",
       R"(expected the end of the line after an entry, found "1.0")"},
      {banner("coordinate real symmetric") + "2 2 2\n2 1 1.0\n1 2 1.0\n", "4:1",
       "expected one of (1, 2) and (2, 1), as the file is symmetric, found both; a file with both triangles is "
       "general"},
      {banner("coordinate real skew-symmetric") + "2 2 2\n1 2 1.0\n2 1 -1.0\n", "4:1",
       "expected one of (2, 1) and (1, 2), as the file is skew-symmetric, found both"},
      {banner("array real skew-symmetric") + "2 2\n0\n-1\n1\n0\n", "4:1",
       R"(after 1 value, found "-1"; a file with all 4 is general, as its banner then says)"},
      {banner("array real symmetric") + "2 2\n4\n1\n1\n3\n", "6:1", "a file with all 4 is general"},
      {banner("coordinate real skew-symmetric") + "2 2 1\n2 2 1.0\n", "3:3",
       "expected a column other than 2, as the diagonal of a skew-symmetric matrix is zero"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.content);
    EXPECT_TRUE(error.starts_with("test.mtx:" + c.place + ": error: ")) << c.content << "\n-> " << error;
    EXPECT_NE(error.find(c.message), error.npos) << c.content << "\n-> " << error << "\nexpected " << c.message;
  }
}

TEST(MatrixMarket, ShowsTheLineAndACaretWhereThereIsALine) {
  EXPECT_EQ(error_of(array + "2 2\n1\n \t2.5 3x7 \x01\r\n4\n"),
            "test.mtx:4:7: error: expected a number, found \"3x7\"\n"
            "  2.5 3x7 \\x01\n"
            "      ^");
  const std::string error = error_of(array + "1 1\n" + std::string(200, ' ') + "x" + std::string(200, ' ') + "y\n");
  EXPECT_EQ(error, "test.mtx:3:201: error: expected a number, found \"x\"\n..." + std::string(60, ' ') + "x" +
                       std::string(39, ' ') + "...\n" + std::string(63, ' ') + "^");
  EXPECT_EQ(error_of("1 2\n\u00e9\u03b1\u6f22 \u00a0\u202e\xE9 x\n", {}, "test"),
            "test:2:1: error: expected a number, found \"\u00e9\u03b1\u6f22\"\n"
            "\u00e9\u03b1\u6f22 \\xC2\\xA0\\xE2\\x80\\xAE\\xE9 x\n^");
  EXPECT_EQ(error_of("1 2\n3 \u00e94 x\n", {}, "test"),
            "test:2:3: error: expected a number, found \"\u00e94\"\n3 \u00e94 x\n  ^");
  EXPECT_EQ(error_of("\u00e9 1\n2 3\u00e9 x\n", {}, "test").substr(0, 9), "test:1:1:");
  std::string many = "1 2\n";
  for (int k = 0; k < 40; ++k) many += "\u03b1\u6f22";
  const std::string cut = error_of(many, {}, "test");
  EXPECT_EQ(cut.find("\\x"), cut.npos) << cut;
  EXPECT_EQ(error_of(array + "1 1\n"), "test.mtx:3:1: error: expected 1 value, found the end of the file after 0");
}

TEST(MatrixMarket, ReadsNonfiniteWhereAllowed) {
  const Rows rows = read(array + "2 2\n1\nnan\n-inf\nInfinity\n", {.allow_nonfinite = true});
  EXPECT_TRUE(std::isnan(rows[1][0]));
  EXPECT_EQ(rows[0][1], -INFINITY);
  EXPECT_EQ(rows[1][1], INFINITY);
  EXPECT_NE(error_of(banner("array integer general") + "1 1\nnan\n", {.allow_nonfinite = true}), "");
}

TEST(MatrixMarket, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(read(array + "1 1\n-0.0\n")[0][0]));
  EXPECT_TRUE(std::signbit(read(coordinate + "1 1 1\n1 1 -0.0\n")[0][0]));
}

TEST(MatrixMarket, AddsUpRepeatedEntriesAndSaysSo) {
  const MatrixFile file = read_matrix(file_with(coordinate + "2 2 4\n1 1 1\n1 1 2\n2 1 5\n1 1 4\n"));
  EXPECT_EQ(rows_of(file.matrix), (Rows{{7, 0}, {5, 0}}));
  EXPECT_EQ(file.notes, std::vector<std::string>{test_folder() +
                                                 "test.mtx:4:1: note: 2 entries repeat an earlier one and were added "
                                                 "to it; the first is here"});
  EXPECT_FALSE(file.symmetric);
  EXPECT_TRUE(read_matrix(file_with(banner("coordinate real symmetric") + "1 1 1\n1 1 1\n")).symmetric);
}

/// A random array file in which numbers have many forms, some lines have several, and n is large enough for threads.
std::string large_array(const std::string& symmetry, std::int64_t n) {
  std::mt19937_64 random(1);
  std::string content = banner("array real " + symmetry) + fmt::format("{} {}\n", n, n);
  const std::int64_t count = symmetry == "general"     ? n * n
                             : symmetry == "symmetric" ? n * (n + 1) / 2
                                                       : n * (n - 1) / 2;
  for (std::int64_t k = 0; k < count; ++k)
    content += fmt::format("{:.{}g}{}", std::ldexp(double(random()), -40 - int(random() % 40)), 1 + random() % 17,
                           random() % 8 ? "\n" : " ");
  return content;
}

TEST(MatrixMarket, IsTheSameOnAnyNumberOfThreads) {
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
    const std::string path = file_with(large_array(symmetry, 301));
    const Rows expected = rows_of(read_matrix(path, {.threads = 1}).matrix);
    for (int threads : {2, 3, 8})
      EXPECT_EQ(rows_of(read_matrix(path, {.threads = threads}).matrix), expected) << symmetry;
  }
}

TEST(MatrixMarket, FindsTheSameErrorOnAnyNumberOfThreads) {
  const std::string good = large_array("general", 201);
  const std::size_t inside = good.find('\n', good.size() * 3 / 4) + 1;
  std::vector<std::string> contents = {good + "5", good + std::string(1, '\0'), good.substr(0, inside)};
  for (const std::string bad : {"x\n", "nan\n", "1,5 ", "% comment\n", "7\n"}) {
    contents.push_back(good);
    contents.back().insert(inside, bad);
  }
  contents.push_back(good);
  contents.back()[inside - 1] = '\0';
  for (const std::string& content : contents)
    for (int threads : {2, 3}) EXPECT_EQ(error_of(content, {.threads = threads}), error_of(content));
}

TEST(Gzip, IsKnownByItsContent) {
  EXPECT_EQ(read(compressed(array + "2 1\n1\n2\n")), (Rows{{1}, {2}}));
  EXPECT_EQ(read(compressed(array + "2 1\n1") + compressed("7\n2\n")), (Rows{{17}, {2}})) << "several members";
  const std::string large = large_array("general", 301);
  EXPECT_EQ(read(compressed(large)), read(large)) << "several buffers";
  EXPECT_NE(error_of(compressed(array + "1 1\nx\n")).find("test.mtx:3:1: error: expected a number"), std::string::npos);
}

TEST(Gzip, IsRefusedWhenDamaged) {
  const std::string packed = compressed(large_array("general", 20));
  for (const std::size_t size : {std::size_t(2), std::size_t(9), packed.size() / 2, packed.size() - 1})
    EXPECT_EQ(error_of(packed.substr(0, size)),
              fmt::format("test.mtx: byte {}: error: expected more gzip data, found the end of the file", size));
  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= 1;
  EXPECT_NE(error_of(wrong_sum).find("error: expected gzip data, found damage (incorrect data check)"),
            std::string::npos);
  EXPECT_NE(error_of(packed + "junk").find("error: expected gzip data, found damage (incorrect header check)"),
            std::string::npos);
}

TEST(MatrixMarket, SaysThatLinesLookLikeRows) {
  const auto notes = [](const std::string& content) { return read_matrix(file_with(content)).notes; };
  const std::string rows = test_folder() +
                           "test.mtx:3:1: note: each line holds 2 numbers, as if it were a row; array files are "
                           "read column by column";
  EXPECT_EQ(notes(array + "2 2\n1 2\n3 4\n"), std::vector{rows + "; --transpose takes the lines as rows"});
  EXPECT_EQ(notes(array + "3 2\n1 2\n3 4\n5 6\n"), std::vector{rows});
  EXPECT_TRUE(notes(array + "3 2\n1 2 3\n4 5 6\n").empty());  // columns
  EXPECT_TRUE(notes(array + "2 2\n1 2\n2 4\n").empty());      // symmetric: no matter
  EXPECT_TRUE(notes(array + "2 2\n1\n2\n3\n4\n").empty());
  EXPECT_TRUE(notes(array + "2 2\n1 2 3 4\n").empty());
  EXPECT_TRUE(notes(banner("array real symmetric") + "2 2\n1 2\n3\n").empty());
}

}  // namespace
}  // namespace lasolve::io
