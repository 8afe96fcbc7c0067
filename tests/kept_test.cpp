// What `lasolve tune` keeps, and which of that is taken.
#include "tuned/kept.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/input_error.hpp"
#include "io/output_file.hpp"
#include "tuned/setting.hpp"

namespace lasolve::tuned {
namespace {

namespace fs = std::filesystem;

Entry entry(std::int64_t n, Method method = Method::lu) {
  return {{{Device::cpu, "a processor", 2, 0, "", "1.2.3", "-O3"}, Precision::fp64, method, n},
          {"blas", "packed"},
          "2026-11-23",
          {"blas", Schedule::right_looking, 128},
          {"packed", Schedule::left_looking, 192},
          0.5,
          0.4,
          1.25,
          1.2,
          1.3};
}

std::int64_t taken(const std::vector<Entry>& entries, std::int64_t n) {
  const Entry* const e = nearest(entries, entry(n).key);
  return e ? e->key.n : 0;
}

TEST(Nearest, is_the_size_with_the_smallest_ratio_up_to_two) {
  const std::vector<Entry> entries = {entry(2048), entry(256), entry(1024), entry(512, Method::cholesky)};
  EXPECT_EQ(taken(entries, 256), 256);
  EXPECT_EQ(taken(entries, 128), 256);
  EXPECT_EQ(taken(entries, 127), 0);
  EXPECT_EQ(taken(entries, 512), 256) << "of two that are equally near, the smaller";
  EXPECT_EQ(taken(entries, 513), 1024);
  EXPECT_EQ(taken(entries, 1448), 1024);
  EXPECT_EQ(taken(entries, 1449), 2048);
  EXPECT_EQ(taken(entries, 4096), 2048);
  EXPECT_EQ(taken(entries, 4097), 0);
  EXPECT_EQ(taken(entries, 0), 0);
  EXPECT_EQ(taken({}, 256), 0);
}

TEST(Nearest, is_of_the_same_machine_precision_and_method) {
  const std::vector<Entry> entries = {entry(256)};
  const auto is_taken = [&](auto change) {
    Key key = entry(256).key;
    change(key);
    return nearest(entries, key) != nullptr;
  };
  EXPECT_TRUE(is_taken([](Key&) {}));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.name = "another"; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.threads = 4; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.version = "1.2.4"; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.build = "-O2"; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.device = Device::cuda; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.machine.driver = "another"; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.precision = Precision::fp32; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.accuracy = 1e-12; }));
  EXPECT_FALSE(is_taken([](Key& k) { k.method = Method::cholesky; }));
}

TEST(Kept, is_read_as_it_was_written) {
  std::vector<Entry> entries = {entry(256), entry(512, Method::cholesky)};
  entries[1].chosen.small = "blas", entries[1].chosen.small_below = 1.5e6;
  const auto read = entries_of(as_json(entries).dump(), "a file");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(as_json(read), as_json(entries));
  EXPECT_EQ(read[1].key, entries[1].key);
  EXPECT_EQ(read[1].chosen, entries[1].chosen);
  EXPECT_EQ(read[1].speedup, 1.25);
}

TEST(Kept, has_a_precision_where_an_accuracy_leaves_it_open) {
  std::vector<Entry> entries = {entry(256)};
  entries[0].key.accuracy = 1e-12, entries[0].chosen.precision = Precision::fp32;
  Json json = as_json(entries);
  EXPECT_EQ(json["results"][0]["chosen"]["precision"], "fp32");
  EXPECT_TRUE(json["results"][0]["default"]["precision"].is_null());
  const Entry read = entries_of(json.dump(), "a file").at(0);
  EXPECT_EQ(read.key, entries[0].key);
  EXPECT_EQ(read.chosen, entries[0].chosen);
  json["results"][0].erase("accuracy");
  for (const char* which : {"default", "chosen"}) json["results"][0][which].erase("precision");
  const Entry older = entries_of(json.dump(), "a file").at(0);
  EXPECT_EQ(older.key, entry(256).key);
  EXPECT_EQ(older.chosen, entry(256).chosen);
}

TEST(Kept, takes_the_place_of_what_was_there_for_the_same_system) {
  std::vector<Entry> entries = {entry(256), entry(512)};
  Entry later = entry(256);
  later.date = "2027-01-01";
  put(entries, later);
  put(entries, entry(1024));
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].date, "2027-01-01");
}

TEST(Kept, says_what_is_wrong_with_a_file) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      entries_of(text, "FILE");
    } catch (const io::InputError& e) {
      return e.what();
    }
    return "none";
  };
  const auto changed = [](const char* field, const Json& value) {
    Json json = as_json({entry(256)});
    json["results"][0][field] = value;
    return json.dump();
  };
  const auto begins = [](const std::string& text, const std::string& with) { return text.substr(0, with.size()); };
  const std::string expected = "FILE: error: expected what lasolve tune keeps, found ";
  for (const std::string& text : {std::string(),
                                  std::string("{"),
                                  std::string("[]"),
                                  std::string("{\"a\": 1}"),
                                  std::string("\xff\xfe"),
                                  std::string(100000, '['),
                                  changed("n", 0),
                                  changed("n", 1.5),
                                  changed("n", "256"),
                                  changed("date", "today\x1b[31m"),
                                  changed("precision", "auto"),
                                  changed("factorization", "qr"),
                                  changed("device", 3),
                                  changed("chosen", nullptr),
                                  changed("speedup", -1),
                                  changed("speedup", nullptr),
                                  changed("backends", {1, 2}),
                                  changed("n", 1e300),
                                  changed("threads", 4294967300),
                                  changed("capability", 1e99),
                                  changed("name", Json::parse("[[[[[[[[[[1]]]]]]]]]]"))})
    EXPECT_EQ(begins(complaint(text), expected), expected) << text.substr(0, 60);
  Json later = as_json({entry(256)});
  later["schema_version"] = 2;
  EXPECT_EQ(complaint(later.dump()), expected + "schema_version 2");
}

/// A folder that goes when the test ends.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "lasolve-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

TEST(Cache, is_where_the_environment_says) {
  EXPECT_EQ(path_in_cache("/c", "/h"), "/c/lasolve/tuned.json");
  EXPECT_EQ(path_in_cache(nullptr, "/h"), "/h/.cache/lasolve/tuned.json");
  EXPECT_EQ(path_in_cache("", "/h"), "/h/.cache/lasolve/tuned.json");
  EXPECT_EQ(path_in_cache("relative", "/h"), "/h/.cache/lasolve/tuned.json");
  EXPECT_EQ(path_in_cache(nullptr, nullptr), "");
  EXPECT_EQ(path_in_cache(nullptr, ""), "");
}

TEST(Cache, keeps_and_forgets) {
  const Folder folder;
  const std::string path = folder / "new/folders/tuned.json";
  EXPECT_TRUE(read(path).complaint.empty());
  EXPECT_TRUE(read("").complaint.empty());
  write(path, {entry(256)});
  EXPECT_EQ(read(path).entries.size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path / "new/folders"), {}), 1) << "something is left behind";
  EXPECT_TRUE(remove(path));
  EXPECT_FALSE(remove(path));
}

TEST(Cache, ignores_what_is_no_such_file_and_names_it) {
  const Folder folder;
  const std::string path = folder / "tuned.json";
  std::ofstream(path) << "{\"some\": \"other\"}";
  EXPECT_TRUE(read(path).entries.empty());
  EXPECT_NE(read(path).complaint.find(path + ": error: expected what lasolve tune keeps"), std::string::npos);
  EXPECT_NE(read(folder.path.string()).complaint.find("it is no file; it is ignored"), std::string::npos);
  fs::resize_file(path, 100 << 20);
  EXPECT_NE(read(path).complaint.find("it is too large"), std::string::npos);
}

TEST(Cache, says_where_it_cannot_write) {
  const Folder folder;
  std::ofstream(folder / "file") << "";
  EXPECT_THROW(require_writable_path(folder / "file/lasolve/tuned.json"), io::OutputError);
  EXPECT_THROW(write(folder / "file/lasolve/tuned.json", {}), io::OutputError);
}

}  // namespace
}  // namespace lasolve::tuned
