#include <fmt/format.h>
#include <gtest/gtest.h>
#include "compress.hpp"
#include "io_files.hpp"

namespace lasolve::io::npz_test {
namespace {

using test::compressed;

enum class Compression { stored = 0, deflated = 8 };

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += char(value >> 8 * k & 0xFF);
  return text;
}

struct Member {
  std::string name, content;
  Compression compression = Compression::stored;
  bool wide = false;  // its sizes and its place are in a ZIP64 field
};

/// An archive; a wide one has a ZIP64 end of its directory.
std::string zip(const std::vector<Member>& members, bool wide = false, const std::string& comment = "") {
  std::string archive, directory;
  for (const Member& m : members) {
    const std::string data =
        m.compression == Compression::stored ? m.content : compressed(m.content, 6, test::Wrapping::none);
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(m.content.data()), m.content.size());
    const std::string sizes64 = little(m.content.size(), 8) + little(data.size(), 8);
    const std::string sizes =
        m.wide ? little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4) : little(data.size(), 4) + little(m.content.size(), 4);
    const std::string method = little(45, 2) + little(0, 2) + little(std::uint64_t(m.compression), 2) + little(0, 4);
    const std::string extra =  // behind a field that is none of ours
        m.wide ? "UT" + little(1, 2) + "t" + little(1, 2) + little(24, 2) + sizes64 + little(archive.size(), 8) : "";
    directory += "PK\x01\x02" + little(45, 2) + method + little(crc, 4) + sizes + little(m.name.size(), 2) +
                 little(extra.size(), 2) + little(0, 8) + little(0, 2) +
                 little(m.wide ? 0xFFFFFFFF : archive.size(), 4) + m.name + extra;
    // numpy.savez writes such a field, of 16 bytes, into every local header
    archive += "PK\x03\x04" + method + little(crc, 4) + sizes + little(m.name.size(), 2) + little(20, 2) + m.name +
               little(1, 2) + little(16, 2) + sizes64 + data;
  }
  const std::uint64_t place = archive.size(), entries = members.size();
  archive += directory;
  if (wide) {
    const std::uint64_t end64 = archive.size();
    archive += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(entries, 8) +
               little(entries, 8) + little(directory.size(), 8) + little(place, 8);
    archive += "PK\x06\x07" + little(0, 4) + little(end64, 8) + little(1, 4);
  }
  return archive + "PK\x05\x06" + little(0, 4) + little(wide ? 0xFFFF : entries, 2) +
         little(wide ? 0xFFFF : entries, 2) + little(directory.size(), 4) + little(wide ? 0xFFFFFFFF : place, 4) +
         little(comment.size(), 2) + comment;
}

std::string npy(const Rows& rows) {
  const std::string dictionary =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}\n", rows.size(), rows[0].size());
  std::string content = "\x93NUMPY" + little(1, 2) + little(dictionary.size(), 2) + dictionary;
  for (const auto& row : rows) content.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double));
  return content;
}

const Rows A = {{1, 2}, {3, 4}}, b = {{5}, {6}};

Rows read(const std::string& archive, const std::string& array = "") {
  return rows_of(read_matrix(file_with(archive, "test.npz") + (array.empty() ? "" : ":" + array)).matrix);
}

TEST(Npz, ReadsStoredAndDeflatedMembersByName) {
  for (const auto compression : {Compression::stored, Compression::deflated})
    for (const bool wide : {false, true}) {
      const std::string one = zip({{"arr_0.npy", npy(A), compression, wide}}, wide);
      EXPECT_EQ(read(one), A);
      EXPECT_EQ(read(one, "arr_0"), A);
      EXPECT_EQ(read(one, "arr_0.npy"), A);
      const std::string two =
          zip({{"A.npy", npy(A), compression, wide}, {"b.npy", npy(b), compression}}, wide, "hello");
      EXPECT_EQ(read(two, "A"), A);
      EXPECT_EQ(read(two, "b"), b);
    }
}

TEST(Npz, ListsTheArraysWhereItIsNotClearWhichIsMeant) {
  const std::string two = zip({{"A.npy", npy(A)}, {"b.npy", npy(b)}});
  EXPECT_EQ(error_of(two, {}, "test.npz").substr(0, 51), "test.npz: error: expected one array, found 2: A, b;");
  file_with(two, "test.npz");
  try {
    read_matrix(test_folder() + "test.npz:C");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_TRUE(std::string(e.what()).ends_with("error: expected an array \"C\", found A, b")) << e.what();
  }
  EXPECT_NE(error_of(zip({}), {}, "test.npz").find("found none in it"), std::string::npos);
  EXPECT_TRUE(error_of(zip({{"Y.npy", npy(A)}, {"Z.npy", npy(b)}}), {}, "test.npz").ends_with("test.npz:Y names one"));
}

/// A free name for what is in it is one that ends where paths do.
TEST(Npz, TakesNamesToTheirFirstNul) {
  using namespace std::string_literals;
  EXPECT_NE(error_of(zip({{"notes\0more"s, "text"}}), {}, "test.npz").find("a zip archive with notes; this unpacks it"),
            std::string::npos);
  EXPECT_NE(error_of(zip({{"\0.txt"s, "text"}}), {}, "test.npz").find("a zip archive without a file"),
            std::string::npos);
  EXPECT_EQ(read(zip({{"A.npy\0.txt"s, npy(A)}}), "A"), A);
}

TEST(Npz, SaysWhatIsDamaged) {
  for (const auto compression : {Compression::stored, Compression::deflated}) {
    const std::string good = zip({{"A.npy", npy(A), compression}});
    for (std::size_t size = 4; size < good.size(); ++size)  // cut anywhere
      EXPECT_FALSE(error_of(good.substr(0, size), {}, "test.npz").empty()) << size;
    std::string bad = good;
    bad[5 + 30 + 20 + 30] ^= 1;  // in the data of the member
    EXPECT_NE(error_of(bad, {}, "test.npz"), "");
  }
  std::string bad = zip({{"A.npy", npy(A)}});
  bad[bad.find("<f8")] = '>';
  EXPECT_NE(error_of(bad, {}, "test.npz").find("with the CRC"), std::string::npos) << error_of(bad, {}, "test.npz");
  Member larger{"A.npy", npy(A), Compression::deflated};
  bad = zip({larger});
  const std::size_t entry = bad.find("PK\x01\x02");
  bad.replace(entry + 24, 4, little(200000, 4));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("that cannot hold so many"), std::string::npos);
  bad.replace(entry + 24, 4, little(20, 4));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("expected 20 bytes from a deflated member, found more"),
            std::string::npos);
  bad.replace(entry + 24, 4, little(larger.content.size() + 1, 4));
  EXPECT_NE(error_of(bad, {}, "test.npz")
                .find(fmt::format("expected {} bytes from a deflated member, found {}", larger.content.size() + 1,
                                  larger.content.size())),
            std::string::npos);
  bad.replace(entry + 20, 4, little(9, 4));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("expected deflated data, found the end of the member"),
            std::string::npos);
  const std::string packed = bad;
  bad[bad.find(larger.name) + larger.name.size() + 20] = 7;  // a block of deflate of no type
  EXPECT_NE(error_of(bad, {}, "test.npz").find("expected deflated data, found invalid block type"), std::string::npos);
  bad = packed;
  bad[entry] = 'Q';
  EXPECT_NE(error_of(bad, {}, "test.npz").find("expected an entry of the directory, found \"QK"), std::string::npos);
  bad = packed;
  bad.replace(entry + 42, 4, little(1 << 30, 4));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("found the end of the file"), std::string::npos);
  bad = packed;
  bad.replace(entry + 10, 2, little(12, 2));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("compression method 12"), std::string::npos);
  bad.replace(entry + 8, 2, little(1, 2));
  EXPECT_NE(error_of(bad, {}, "test.npz").find("encrypted"), std::string::npos);
  EXPECT_NE(error_of(zip({{"A.npy", "no array"}}), {}, "test.npz").find("test.npz:A: byte 0: error: expected"),
            std::string::npos);
}

}  // namespace
}  // namespace lasolve::io::npz_test
