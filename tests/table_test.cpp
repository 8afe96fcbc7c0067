#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compress.hpp"
#include "io_files.hpp"

namespace lasolve::io::table_test {
namespace {

MatrixFile read(std::string_view content, const ReadOptions& options = {}, const std::string& name = "test.csv") {
  return read_matrix(file_with(content, name), options);
}

const Rows two_by_three = {{1, 2.5, -3e4}, {4, .5, 6}};

TEST(Table, ReadsWhatSeparatesNumbers) {
  const char* const contents[] = {
      "1,2.5,-3e4\n4,.5,6\n",
      "1, 2.5 ,\t-3e4\r\n4,.5,6\r\n",
      "1;2.5;-3e4\n4;.5;6",
      "1\t2.5\t-3e4\n4\t.5\t6\n",
      "1 2.5 -3e4\n4 .5 6\n",
      "   1\t 2.5   -3e4  \n\n\n  4 .5    6",
      "# by numpy.savetxt\n1.0e+00 2.5e+00 -3.0e+04\n4 5e-1 6 # the last\n#\n",
      "\xEF\xBB\xBF"
      "1,2.5,-3e4\n \t\n4,.5,6 # comment, with a comma; and more\n",
      "1,2.5,-3e4\r4,.5,6\r",
      "sep=;\r\n1;2.5;-3e4\r\n4;.5;6\r\n",
      "sep=,\n1,2.5,-3e4\n4,.5,6\n",
      "1 2.5 -3e4 #comment\n#X,Y\n4 .5 6\t# 7,8\n",
  };
  for (const char* content : contents)
    for (const char* name : {"test", "test.csv", "test.txt"}) {
      const MatrixFile file = read(content, {}, name);
      EXPECT_EQ(rows_of(file.matrix), two_by_three) << content;
      EXPECT_TRUE(file.notes.empty());
    }
  EXPECT_EQ(rows_of(read("1\t\t2\n\t3\t4\n", {.format = FileFormat::txt}).matrix), (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(rows_of(read("1\n2\n3", {.format = FileFormat::csv}).matrix), (Rows{{1}, {2}, {3}}));
  EXPECT_EQ(rows_of(read("7", {.format = FileFormat::tsv}).matrix), (Rows{{7}}));
}

TEST(Table, SaysWhereAFileIsWrong) {
  const struct {
    std::string content, place, message;
    FileFormat format = FileFormat::automatic;
  } cases[] = {
      {"a,b\n1,2\n", "1:1", R"(expected a number, found "a"; is it a header row? tail -n +2 )"},
      {"# x\n\"a b\",b\n1,2\n", "2:1", R"(found ""a b""; is it a header row? tail -n +3 )"},
      {"1,2\n3,x\n", "2:3", R"(expected a number, found "x")"},
      {"1,2\n3\n", "2:2", "expected 2 numbers, as the first row has, found 1"},
      {"1,2\n3,4,5\n", "2:4", R"(expected the end of the row after 2 numbers, as the first row has, found ",5")"},
      {"1 2\n3\n", "2:2", "expected 2 numbers, as the first row has, found 1"},
      {"1 2\n3 # 4\n", "2:3", "expected 2 numbers, as the first row has, found 1"},
      {"1 2\n3 4 5\n", "2:5", R"(expected the end of the row after 2 numbers, as the first row has, found "5")"},
      {"1 2\n3 4", "", ""},
      {"1,,2\n", "1:3", "expected a number, found an empty field"},
      {"1,2,\n", "1:5", "expected a number, found an empty field"},
      {",1,2\n", "1:1", "expected a number, found an empty field"},
      {"1,2\n3,", "2:3", "expected a number, found an empty field"},
      {"1,2\n3 4\n", "2:3", R"(expected a comma, found "4")"},
      {"1;2;3\n3;4,5;6\n", "2:4", R"(expected a semicolon, found ",5"; --decimal-comma takes a comma for)"},
      {"1;2\n3;4,5\n", "2:4", R"(as the first row has, found ",5"; --decimal-comma takes a comma for)"},
      {"4,0\t1,0\n2,5\t3,0\n", "1:5", R"(expected a comma, found "1"; --decimal-comma takes a comma for)"},
      {"4,1\n2,3 4\n", "2:5", R"(expected the end of the row after 2 numbers, as the first row has, found "4")"},
      {"1\t\t2\n", "1:3", "found an empty field; --format txt takes tabs for blanks"},
      {"1\t2 \n3 4\n", "2:3", R"(expected a tab, found "4")", FileFormat::csv},
      {"1\t2\n3\n4\n", "2:2", "expected 2 numbers, as the first row has, found 1"},
      {"1 2\n3 0x4\n", "2:3", "hexadecimal is not supported"},
      {"1 2\n3 1e999\n", "2:3", "expected a number in the range of a double"},
      {"1 (2+3j)\n", "1:3", R"-(expected a number, found "(2+3j)")-"},
      {"# only a comment\n", "2:1", "expected a row of numbers, found the end of the file"},
      {std::string("1 2\n3 \0 4\n", 10), "2:3", R"(expected a number, found "\x00")"},
      {std::string("1,2\n3,4\0\n", 9), "2:4", "expected the end of the row after 2 numbers"},
      {"word\n", "1:1", R"(found "word"; is it a header row?)"},
      {"%MatrixMarket\n", "1:14", "expected matrix, found the end of the line"},
      {"%%MatrxMarket\n", "1:1", "expected the banner"},
      // a # within a word, and in place of a number
      {"4 1 1.#INF\n2 3 4\n1 2 3\n", "1:5", R"(expected a finite number, found "1.#INF"; --allow-nonfinite reads it)"},
      {"4,1\n2,-1.#IND\n", "2:3", R"(expected a finite number, found "-1.#IND"; --allow-nonfinite reads it)"},
      {"4,1\n2,1.#QNAN00\n", "2:3", R"(expected a finite number, found "1.#QNAN00"; --allow-nonfinite reads it)"},
      {"4 1 #N/A\n2 3 #N/A\n", "1:5", R"(expected a number, found "#N/A"; a spreadsheet had no number there)"},
      {"4 1\n2 #DIV/0!\n", "2:3", R"(expected a number, found "#DIV/0!"; a spreadsheet had no number there)"},
      {"#N/A,1\n2,3\n4,5\n", "1:1", R"(expected a number, found "#N/A"; a spreadsheet had no number there)"},
      {"4,1\n2,#WERT!\n", "2:3", R"(expected a number, found "#WERT!"; a spreadsheet had no number there)"},
      {"4,1\n2, # 3\n", "2:4", R"(expected a number, found "# 3")"},
      {"4;1\n2;#3\n", "2:3", R"(expected a number, found "#3")"},
      {"4 1\n2 3#4\n", "2:3", R"(expected a number, found "3#4"; a comment begins behind a blank)"},
      {"4,1\n2,3# four\n", "2:3", R"(expected a number, found "3# four"; a comment begins behind a blank)"},
      // what others write
      {"; rows of A\n1 2\n", "1:1", "found an empty field; is it a comment? that begins with # or %"},
      {"! rows of A\n1 2\n", "1:1", R"(found "!"; is it a comment? that begins with # or %)"},
      {",0,1,2\n0,4,1,5\n", "1:1", "found an empty field; is it a header row of pandas? to_csv(..., index=False"},
      {",a,b\n0,4,1\n", "1:1", "found an empty field; is it a header row of pandas?"},
      {",4,1\n0,4,1\n", "1:1", "found an empty field"},
      {";a;b\n0;4;1\n", "1:1", "found an empty field; is it a header row of pandas?"},
      {"; rows; of A\n; 2\n1;2\n", "1:1", "found an empty field; is it a comment?"},
      {"\u00c9,b\n1,2\n", "1:1", "found \"\u00c9\"; is it a header row?"},
      {"\u22124,b\n1,2\n", "1:1", "found \"\u22124\""},
      {"\"4\",1\n2,3\n", "1:1", R"(found ""4""; numbers stand without quotes, which tr -d '"' takes away)"},
      {"\"4,000.5\",1\n2,3\n", "1:1", R"(found ""4,000.5""; numbers stand without quotes and have no marks between)"},
      {"4'000.5 1\n2 3\n", "1:1", R"(found "4'000.5"; numbers have no marks between thousands)"},
      {"4 000.5;1\n2;3\n", "1:1", R"(expected a number, found "4 000.5"; numbers have no marks between thousands)"},
      {"4;1\n2; 1 234 567\n", "2:4", R"(found "1 234 567"; numbers have no marks between thousands)"},
      {"1 234,5;1\n2;3\n", "1:1",
       R"(found "1 234,5"; numbers have no marks between thousands, and a decimal comma only with --decimal-comma)"},
      {"4.000,5;1\n2;3\n", "1:1",
       R"(found "4.000,5"; numbers have no marks between thousands, and a decimal comma only with --decimal-comma)"},
      {"4\u00a0000;1\n2;3\n", "1:1", "numbers have no marks between thousands"},
      {"4.000,5 1,0\n2,5 3\n", "1:9",
       R"(found "1"; --decimal-comma takes a comma for the decimal mark, and numbers have no marks between thousands)"},
      {"\"4.000,5\";\"1,0\"\n", "1:1",
       "without quotes and have no marks between thousands, and a decimal comma only with --decimal-comma"},
      {"4 00;1\n2;3\n", "1:3", R"(expected a semicolon, found "00")"},
      {"4,1 000\n2,3\n", "1:3", R"(found "1 000"; numbers have no marks between thousands)"},
      {"\"4,5\";\"1,0\"\n", "1:1", "and have a decimal comma only with --decimal-comma"},
      {"1 1.0-5\n2 3\n", "1:3", R"(found "1.0-5"; an exponent needs its letter, as in 1.0e+100)"},
      {"1 2\n", "", ""},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.content, {.format = c.format}, "test.csv");
    if (c.place.empty()) {
      EXPECT_EQ(error, "");
      continue;
    }
    const std::string first_line = error.substr(0, error.find('\n'));
    EXPECT_TRUE(first_line.starts_with("test.csv:" + c.place + ": error: ")) << c.content << error;
    EXPECT_NE(first_line.find(c.message), error.npos) << error << "\nexpected " << c.message;
  }
}

TEST(Table, ReadsADecimalCommaWhereItIsAskedFor) {
  const ReadOptions options{.decimal_comma = true};
  const Rows expected = {{1.5, -2, 3e4}, {4, .5, 6.25}};
  for (const char* content : {"1,5;-2;3e4\n4;,5;6,25\n", "sep=;\n1,5;-2;3e4\n4;0,5;6,25", "1,5\t-2\t3e4\n4\t,5\t6,25\n",
                              "1,5 -2 3,0e4\n4 0,5 6,25 # 7,5\n"})
    EXPECT_EQ(rows_of(read(content, options).matrix), expected) << content;
  EXPECT_EQ(rows_of(read("1,5\n2,5\n", options).matrix), (Rows{{1.5}, {2.5}}));
  EXPECT_NE(error_of("1.5;2\n", options, "test.csv").find("with --decimal-comma a point is no decimal mark"),
            std::string::npos);
  EXPECT_NE(error_of("1.234,5;2\n", options, "test.csv").find("numbers have no marks between thousands"),
            std::string::npos);
  EXPECT_NE(error_of("1 234,5;2\n", options, "test.csv").find("numbers have no marks between thousands"),
            std::string::npos);
  EXPECT_NE(error_of("4,000.5;2\n", options, "test.csv")
                .find("no marks between thousands, and with --decimal-comma a point is no decimal mark"),
            std::string::npos);
  EXPECT_NE(error_of("1;2,5e\n", options, "test.csv").find(R"(found "2,5e"; its exponent has no digits)"),
            std::string::npos);
}

TEST(Table, NoticesWhatMayBeDecimalCommas) {
  EXPECT_TRUE(read("1,5\n-2,5\n\n3,5 # a\n").may_have_decimal_commas);
  for (const char* content :
       {"1,5\n2.5,5\n", "1, 5\n2, 5\n", "1,5\n2,-5\n", "1,5,2\n2,5,2\n", "1;5\n2;5\n", "1 5\n2 5\n"})
    EXPECT_FALSE(read(content).may_have_decimal_commas) << content;
}

TEST(Table, RefusesNonfiniteUnlessAllowed) {
  const std::string content = "1,nan\n-inf,Infinity\n";
  EXPECT_TRUE(error_of(content, {}, "test.csv").starts_with("test.csv:1:3: error: expected a finite number"));
  const Matrix<double> A = read(content, {.allow_nonfinite = true}).matrix;
  EXPECT_TRUE(std::isnan(A(0, 1)));
  EXPECT_EQ(A(1, 0), -INFINITY);
  EXPECT_EQ(A(1, 1), INFINITY);
  const Matrix<double> B = read("1.#INF,-1.#IND\n-1.#INF00,nan(ind)\n", {.allow_nonfinite = true}).matrix;
  EXPECT_EQ(B(0, 0), INFINITY);
  EXPECT_TRUE(std::isnan(B(0, 1)) && std::isnan(B(1, 1)));
  EXPECT_EQ(B(1, 0), -INFINITY);
}

/// Long enough for several threads, and for several rounds of parts.
std::string long_table(int rows, int cols, std::string_view separator) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      fmt::format_to(std::back_inserter(text), "{}{}", 1000 * i + j + 0.25, j + 1 < cols ? separator : "\n");
  return text;
}

TEST(Table, ReadsOnSeveralThreadsWhatItReadsOnOne) {
  std::string content = long_table(3000, 70, ", ");
  for (const int threads : {1, 2, 5}) {
    const Matrix<double> A = read(content, {.threads = threads}).matrix;
    ASSERT_EQ(A.rows(), 3000);
    ASSERT_EQ(A.cols(), 70);
    for (std::int64_t j = 0; j < A.cols(); ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_EQ(A(i, j), double(1000 * i + j) + 0.25);
  }
  // What is wrong, or unusual, may be anywhere; the first place is named.
  for (const std::size_t about : {content.size() / 3, content.size() / 2, content.size() - 20}) {
    std::string other = content;
    const std::size_t line = other.rfind('\n', about) + 1;
    other.insert(line, "# a comment\n\n");
    EXPECT_EQ(read(other, {.threads = 3}).matrix.rows(), 3000);
    other.insert(line, "1,2\n");
    other += "x\n";
    EXPECT_EQ(error_of(other, {.threads = 3}, "test.csv"), error_of(other, {.threads = 1}, "test.csv"));
    EXPECT_NE(error_of(other, {.threads = 3}, "test.csv").find("expected 70 numbers, as the first row has, found 2"),
              std::string::npos);
  }
}

TEST(Table, TakesNoMemoryForRowsThatAreNotThere) {
  std::string content(100000, ',');  // a first row of many columns, and many short rows
  for (auto& c : content)
    if ((&c - content.data()) % 2 == 0) c = '1';
  content += "1\n";
  for (int i = 0; i < 50000; ++i) content += "1\n";
  EXPECT_TRUE(error_of(content, {}, "test.csv").starts_with("test.csv:2:2: error: expected 50001 numbers"));
  const std::string error = error_of(long_table(40, 40, " "), {.bytes_an_element = 2'000'000'000}, "test.csv");
  EXPECT_TRUE(error.starts_with("test.csv:1:1: error: a dense 40 x 40 matrix with its factors takes")) << error;
}

TEST(Table, IsWrittenAsItIsRead) {
  Matrix<double> A(2, 2);
  A(0, 0) = 0.1, A(0, 1) = -1.2345678901234567e-308, A(1, 0) = 1e300, A(1, 1) = 3;
  for (const auto& [suffix, line] : {std::pair{".csv", "0.1,-1.2345678901234567e-308\n"},
                                     {".tsv", "0.1\t-1.2345678901234567e-308\n"},
                                     {".txt", "0.1 -1.2345678901234567e-308\n"}}) {
    const std::string path = test_folder() + "out" + suffix;
    write_matrix(path, A, {"a comment"});
    EXPECT_TRUE(content_of(path).starts_with(line)) << content_of(path);
    EXPECT_EQ(rows_of(read_matrix(path).matrix), rows_of(A));
    write_matrix(path + ".gz", A);
    EXPECT_EQ(rows_of(read_matrix(path + ".gz").matrix), rows_of(A));
  }
}

TEST(Table, HearsOfProgress) {
  std::vector<double> received;
  const std::string content = long_table(20000, 70, ",");
  ReadOptions options;
  options.progress = [&](double fraction) { received.push_back(fraction); };
  read(content, options);
  ASSERT_GT(received.size(), 1u);
  EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
  EXPECT_EQ(received.back(), 1);
}

TEST(Table, HearsOfDecompressionAndReadingAsOne) {
  std::vector<double> received;
  ReadOptions options;
  options.progress = [&](double share) { received.push_back(share); };
  read(test::compressed(long_table(20000, 70, ","), 1), options);
  ASSERT_GT(received.size(), 2u);
  EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
  EXPECT_LT(received.front(), share_of_decompression);
  EXPECT_EQ(received.back(), 1);
}

TEST(WriteTable, HearsOfProgress) {
  Matrix<double> A(500, 300);
  std::fill_n(A.data(), A.ld() * A.cols(), 0.5);
  for (const char* suffix : {".csv", ".mtx", ".npy"}) {
    std::vector<double> received;
    WriteOptions options;
    options.progress = [&](double share) { received.push_back(share); };
    write_matrix(test_folder() + "told" + suffix, A, {}, options);
    EXPECT_GT(received.size(), 100u) << suffix;
    EXPECT_TRUE(std::is_sorted(received.begin(), received.end()) && received.back() < 1) << suffix;
  }
}

TEST(FileFormat, NamesTheLineThatConvertsWhatIsNotRead) {
  const struct {
    std::string content, message;
  } cases[] = {
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64", "scipy.io.loadmat(sys.argv[1])['A'])"},
      {"MATLAB 7.3 MAT-file, Platform: GLNXA64", "['A'][:].T)"},
      {"MATLAB 7.3 MAT-file, MATLAB_sparse", "(int(A.attrs['MATLAB_sparse']), A['jc'].size - 1)).toarray())"},
      {std::string("\0\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0A\0", 22) + std::string(16, '\1'), "scipy.io.loadmat("},
      {"\x89HDF\r\n\x1A\n rest", "h5py.File(sys.argv[1])['A'][:])"},
      {"\xFF\xFE"
       "1",
       "iconv -f UTF-16"},
      {"BZh91AY&SY", "bzip2 -dc "},
      {std::string("\xFD"
                   "7zXZ\0",
                   6),
       "xz -dc "},
      {"\x28\xB5\x2F\xFD", "zstd -dc "},
      {std::string(72, '\0'), "numpy.fromfile(sys.argv[1], 'f8').reshape(3, 3))"},
      {std::string(36, '\1'), "numpy.fromfile(sys.argv[1], 'f4').reshape(3, 3))"},
      {std::string(40, '\1'), "found 40 bytes that are neither, nor a square matrix in fp64 or fp32"},
      {"title\n 1 1 1 1\nRSA                        3             3\n",
       "scipy.io.hb_read(io.StringIO(open(sys.argv[1]).read().replace('\\nRSA', '\\nRUA')))"},
      {"title\n 1 1 1 1\nCUA                        3             3\n", "found a Harwell-Boeing file of type CUA"},
      {"[[1. 2.]\n ...\n [3. 4.]]", "found a list from which they are left out: numpy.save writes all"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.content, {}, "A.mat");
    EXPECT_TRUE(error.starts_with("A.mat:") && error.find(" error: expected ") != error.npos) << error;
    EXPECT_NE(error.find(c.message), error.npos) << error;
  }
}

}  // namespace
}  // namespace lasolve::io::table_test
