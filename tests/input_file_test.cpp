// Files as the readers get them: what cannot be opened, where pages end, and what others do to a file meanwhile.
#include "io/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>

#include "io_files.hpp"
#include "sanitized.hpp"

namespace lasolve::io::input_file_test {
namespace {

const std::string array = "%%MatrixMarket matrix array real general\n";

TEST(InputFile, SaysWhyItCannotBeRead) {
  const auto error = [](const std::string& path) {
    try {
      read_matrix(path);
      return std::string();
    } catch (const InputError& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(error("/no/such.mtx"), "/no/such.mtx: error: cannot open: No such file or directory");
  EXPECT_EQ(error("/tmp"), "/tmp: error: expected a file, found a directory");
  EXPECT_EQ(error_of(""), "test.mtx: error: expected a matrix, found an empty file");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "test.mtx: error: expected a matrix, found an empty file");
  EXPECT_NE(error_of("\xFF\xFE%\0%\0"), "");
}

std::string change(const std::string& path, const std::function<void()>& how) {
  const InputFile file(path);
  how();
  try {
    file.require_unchanged();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(InputFile, FindsThatItWasChanged) {
  const std::string path = file_with(array + "1 1\n7\n");
  const std::string message = path + ": error: it was changed while it was read";
  EXPECT_EQ(change(path, [] {}), "");
  EXPECT_EQ(change(path, [&] { std::filesystem::resize_file(path, 20); }), message);
  EXPECT_EQ(change(path, [&] { file_with(array + "1 1\n8\n"); }), message);
  EXPECT_EQ(change(path, [&] { std::filesystem::remove(path), file_with(array + "2 2\n"); }), "") << "another file";
}

/// As the tool does it.
void exit_when_not_readable() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* about, void*) {
    const char* const name = mapped_file_at(about->si_addr);
    _exit(name && std::string_view(name).ends_with("short.mtx") ? 3 : 4);
  };
  sigaction(SIGBUS, &action, nullptr);
}

void read_what_was_shortened(const std::string& path) {
  exit_when_not_readable();
  const InputFile file(path), other(file_with(array, "other.mtx"));
  std::filesystem::resize_file(path, 4096);
  [[maybe_unused]] const volatile char last = file.end()[-1];
}

TEST(InputFile, IsFoundAtAnAddressThatCannotBeReadAnyMore) {
  const std::string path = file_with(array + "1 1\n" + std::string(20000, '7'), "short.mtx");
  EXPECT_EXIT(read_what_was_shortened(path), testing::ExitedWithCode(3), "");
  const InputFile file(path);
  EXPECT_EQ(mapped_file_at(file.begin()), file.name());
  EXPECT_EQ(mapped_file_at(file.end()), nullptr);
  EXPECT_EQ(mapped_file_at(file.begin() - 1), nullptr);
}

/// One more than the handler of a signal can be told of.
TEST(InputFile, IsReadBesideEightOthers) {
  std::deque<InputFile> files;
  for (int k = 0; k < 9; ++k) files.emplace_back(file_with(array + "1 1\n" + std::to_string(k), std::to_string(k)));
  for (int k = 0; k < 9; ++k) EXPECT_EQ(files[std::size_t(k)].end()[-1], '0' + k);
  EXPECT_EQ(mapped_file_at(files[7].begin()), files[7].name());
  EXPECT_EQ(mapped_file_at(files[8].begin()), nullptr);
}

/// The kernel says of a setting that it is a regular file of a page.
TEST(InputFile, IsReadWhereItCannotBeMapped) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
  if (access(path.c_str(), R_OK) != 0) GTEST_SKIP() << path << " is not there";
  EXPECT_EQ(rows_of(read_matrix(path).matrix), (Rows{{double(std::stoll(content_of(path)))}}));
}

/// While this lives, this process gets no more than so many bytes of addresses beside those that it has.
class LittleMemory {
 public:
  explicit LittleMemory(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = std::stoull(content_of("/proc/self/statm")) * std::size_t(sysconf(_SC_PAGESIZE)) + more;
    setrlimit(RLIMIT_AS, &now);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

TEST(InputFile, MayBeTooLargeForTheMemory) {
  if (sanitized()) GTEST_SKIP() << "AddressSanitizer has taken more addresses than a limit allows";
  const std::string path = file_with("1 2\n", "large.txt");
  std::filesystem::resize_file(path, std::uintmax_t(1) << 40);  // a hole
  const LittleMemory limit(std::size_t(300) << 20);
  try {
    read_matrix(path);
    ADD_FAILURE() << "it was read";
  } catch (const MachineError& e) {
    EXPECT_NE(std::string(e.what()).find("does not fit in memory"), std::string::npos) << e.what();
  }
}

TEST(InputFile, MayEndAtTheEndOfAPage) {
  for (const std::size_t size : {4095u, 4096u, 4097u, 8192u}) {
    std::string content = array + "1 1\n";
    content += std::string(size - content.size() - 1, ' ') + "7";
    EXPECT_EQ(rows_of(read_matrix(file_with(content)).matrix), (Rows{{7}})) << size;
    content = array + "1 1\n";
    content += std::string(size - content.size(), '7');
    EXPECT_TRUE(error_of(content).find("in the range of a double") != std::string::npos) << size;
  }
}

}  // namespace
}  // namespace lasolve::io::input_file_test
