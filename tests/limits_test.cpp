// What the files of a Linux system say about memory and processors.
#include "core/cpu/limits.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lasolve::test {
namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

/// The files of a system with 8000 MiB of free memory, in a folder.
class System {
 public:
  System() : root_(std::filesystem::temp_directory_path() / ("lasolve-limits-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
    file("proc/meminfo", "MemTotal:       16384000 kB\nMemFree:         1000000 kB\nMemAvailable:    8192000 kB\n");
    file("proc/self/status", "Name:\tx\nVmPeak:\t  900000 kB\nVmSize:\t  204800 kB\nVmData:\t  102400 kB\n");
    limits("unlimited", "unlimited");
  }
  ~System() { std::filesystem::remove_all(root_); }

  System& file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
    return *this;
  }
  void limits(const std::string& address_space, const std::string& data) {
    file("proc/self/limits",
         "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max data size             " +
             data +
             "            unlimited            bytes     \n"
             "Max address space         " +
             address_space + "            unlimited            bytes     \n");
  }
  void mounted(const std::string& lines, const std::string& cgroups) {
    file("proc/self/mountinfo", "22 28 0:21 / /sys rw,nosuid - sysfs sysfs rw\n" + lines)
        .file("proc/self/cgroup", cgroups);
  }
  std::size_t free() const { return Limits(root_).free_memory() / MiB; }
  int processors() const { return Limits(root_).granted_processors(64); }

 private:
  std::filesystem::path root_;
};

const std::string version2 = "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Limits, without_any_are_what_the_machine_has) {
  System s;
  EXPECT_EQ(s.free(), 8000u);
  EXPECT_EQ(s.processors(), 64);
  s.mounted(version2, "0::/user.slice\n");  // a group without limits has no such files
  EXPECT_EQ(s.free(), 8000u);
}

TEST(Limits, of_version_2_are_those_of_all_groups_above_less_what_is_used) {
  System s;
  s.mounted(version2, "0::/a.slice/b.scope\n");
  const std::string a = "sys/fs/cgroup/a.slice/", b = a + "b.scope/";
  s.file(b + "memory.max", "max\n").file(b + "memory.high", "max\n").file(b + "memory.current", "1\n");
  s.file(b + "cpu.max", "max 100000\n");
  EXPECT_EQ(s.free(), 8000u);
  EXPECT_EQ(s.processors(), 64);
  s.file(a + "memory.max", std::to_string(1000 * MiB) + "\n")
      .file(a + "memory.current", std::to_string(600 * MiB) + "\n");
  EXPECT_EQ(s.free(), 400u);
  // What is used for files can be had back, but for those in use.
  s.file(a + "memory.stat", "anon 1\nactive_file 9\ninactive_file " + std::to_string(100 * MiB) + "\nslab 7\n");
  EXPECT_EQ(s.free(), 500u);
  s.file(b + "memory.high", std::to_string(300 * MiB));
  EXPECT_EQ(s.free(), 299u);
  s.file(b + "memory.current", std::to_string(301 * MiB));
  EXPECT_EQ(s.free(), 0u);
  s.file(a + "cpu.max", "250000 100000\n");
  EXPECT_EQ(s.processors(), 3);
  s.file(b + "cpu.max", "10000 100000\n");
  EXPECT_EQ(s.processors(), 1);
}

TEST(Limits, of_version_1_are_found_by_controller) {
  System s;
  s.mounted(
      "31 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 22 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "33 22 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
      "9:cpuset:/z\n4:memory:/jobs/1\n2:cpu,cpuacct:/jobs\n0::/\n");
  const std::string memory = "sys/fs/cgroup/memory/", job = memory + "jobs/1/";
  s.file(memory + "memory.limit_in_bytes", "9223372036854771712\n").file(memory + "memory.usage_in_bytes", "77\n");
  s.file(job + "memory.limit_in_bytes", std::to_string(700 * MiB))
      .file(job + "memory.usage_in_bytes", std::to_string(300 * MiB));
  s.file(job + "memory.stat", "inactive_file 5\ntotal_inactive_file " + std::to_string(50 * MiB) + "\n");
  EXPECT_EQ(s.free(), 450u);
  s.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(s.processors(), 64);
  s.file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "150000\n");
  s.file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(s.processors(), 2);
}

TEST(Limits, of_a_container_are_where_it_sees_its_own_group) {
  const std::string limit = std::to_string(64 * MiB), in_container = "sys/fs/cgroup/memory.max";
  for (const auto& [root, path] :
       {std::pair("/docker/abc", "/docker/abc"), {"/", "/"}, {"/", "/../../other"}, {"/docker/abc", "/x"}}) {
    System s;
    s.mounted(std::string("30 22 0:26 ") + root + " /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
              std::string("0::") + path + "\n");
    s.file(in_container, limit);
    EXPECT_EQ(s.free(), 64u) << root << " " << path;
  }
}

TEST(Limits, of_resources_are_less_what_is_mapped) {
  System s;
  s.limits(std::to_string(500 * MiB), "unlimited");
  EXPECT_EQ(s.free(), 300u);
  s.limits("unlimited", std::to_string(350 * MiB));
  EXPECT_EQ(s.free(), 250u);
  s.limits(std::to_string(500 * MiB), std::to_string(50 * MiB));
  EXPECT_EQ(s.free(), 0u);
}

TEST(Limits, of_this_system_are_read) {
  EXPECT_GT(limits().free_memory(), MiB);
  EXPECT_LT(limits().free_memory(), std::size_t(1) << 60);
}

}  // namespace
}  // namespace lasolve::test
