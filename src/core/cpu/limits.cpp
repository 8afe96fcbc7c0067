#include "core/cpu/limits.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>

#include "core/process.hpp"

namespace lasolve {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The beginning of a small file; empty when there is none.
std::string content(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[4096];
  for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(n));
  close(file);
  return text;
}

/// The number at the beginning of a text, after blanks; "max", "unlimited" and what is no number: none.
std::optional<std::size_t> number(const char* text) {
  while (*text == ' ' || *text == '\t') ++text;
  if (!std::isdigit(static_cast<unsigned char>(*text))) return {};
  return std::strtoull(text, nullptr, 10);
}
std::optional<std::size_t> number_in(const std::string& path) { return number(content(path).c_str()); }

/// The number that follows `key` where that begins a line.
std::optional<std::size_t> number_after(const std::string& text, const std::string& key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size())
    if (at == 0 || text[at - 1] == '\n') return number(text.c_str() + at + key.size());
  return {};
}

std::size_t without(std::size_t whole, std::size_t part) { return whole - std::min(whole, part); }

/// Where a hierarchy of cgroups is mounted, and which of them is seen there.
struct Mount {
  std::string root, point;
};

/// The mount of cgroup version 2, or that of a controller of version 1.
std::optional<Mount> find_mount(const std::string& mountinfo, const std::string& controller) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    // 36 35 98:0 /root /point options [optional fields] - type source super-options
    std::istringstream words(line);
    std::string skipped, type, options;
    Mount mount;
    words >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    while (words >> skipped && skipped != "-") {
    }
    words >> type >> skipped >> options;
    if (controller.empty()
            ? type == "cgroup2"
            : type == "cgroup" && ("," + options + ",").find("," + controller + ",") != std::string::npos)
      return mount;
  }
  return {};
}

/// The path of our cgroup in the hierarchy of a controller; that of version 2 has none.
std::optional<std::string> find_path(const std::string& cgroups, const std::string& controller) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty()
                           : ("," + controllers + ",").find("," + controller + ",") != std::string::npos)
      return line.substr(second + 1);
  }
  return {};
}

/// The folders of our cgroup and of all above it. A container may see its own as the uppermost, whatever its path says.
std::vector<std::string> folders(const std::string& root, const std::string& controller) {
  const auto mount = find_mount(content(root + "/proc/self/mountinfo"), controller);
  auto path = find_path(content(root + "/proc/self/cgroup"), controller);
  if (!mount || !path) return {};
  if (mount->root != "/") *path = path->starts_with(mount->root) ? path->substr(mount->root.size()) : "";
  if (path->find("..") != std::string::npos) path->clear();
  std::vector<std::string> all;
  for (; !path->empty() && *path != "/"; path->resize(std::min(path->rfind('/'), path->size())))
    all.push_back(root + mount->point + *path + "/");
  all.push_back(root + mount->point + "/");
  return all;
}

/// What a limit leaves beside what is used, of which `reclaimable` bytes are files that the kernel drops when it must.
std::size_t left(std::optional<std::size_t> limit, const std::string& used, const std::string& stat,
                 const char* files) {
  if (!limit || *limit >= unlimited / 4) return unlimited;
  const std::size_t reclaimable = number_after(content(stat), files).value_or(0);
  return without(*limit, without(number_in(used).value_or(0), reclaimable));
}

}  // namespace

Limits::Limits(const std::string& root)
    : proc_(root + "/proc/"),
      memory1_(folders(root, "memory")),
      memory2_(folders(root, "")),
      cpu1_(folders(root, "cpu")),
      cpu2_(memory2_) {}

std::size_t Limits::free_memory() const {
  constexpr std::size_t kib = 1024;
  std::size_t free = unlimited;
  const auto at_most = [&](std::size_t bytes) { free = std::min(free, bytes); };
  if (const auto available = number_after(content(proc_ + "meminfo"), "MemAvailable:"))
    at_most(*available * kib);
  else
    at_most(std::size_t(sysconf(_SC_AVPHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE)));
  for (const std::string& group : memory2_)
    for (const char* limit : {"memory.max", "memory.high"})
      at_most(left(number_in(group + limit), group + "memory.current", group + "memory.stat", "inactive_file "));
  for (const std::string& group : memory1_)
    at_most(left(number_in(group + "memory.limit_in_bytes"), group + "memory.usage_in_bytes", group + "memory.stat",
                 "total_inactive_file "));
  const std::string rlimits = content(proc_ + "self/limits");
  const auto address_space = number_after(rlimits, "Max address space"), data = number_after(rlimits, "Max data size");
  if (address_space || data) {
    const std::string status = content(proc_ + "self/status");
    if (address_space) at_most(without(*address_space, number_after(status, "VmSize:").value_or(0) * kib));
    if (data) at_most(without(*data, number_after(status, "VmData:").value_or(0) * kib));
  }
  return free;
}

int Limits::granted_processors(int processors) const {
  const auto at_most = [&](std::optional<std::size_t> quota, std::optional<std::size_t> period) {
    if (quota && period && *period > 0 && *quota / *period < std::size_t(processors))
      processors = int(std::max<std::size_t>(1, (*quota + *period - 1) / *period));
  };
  for (const std::string& group : cpu2_) {
    const std::string max = content(group + "cpu.max");  // "quota period"
    at_most(number(max.c_str()), number(max.c_str() + std::min(max.find(' '), max.size())));
  }
  for (const std::string& group : cpu1_)
    at_most(number_in(group + "cpu.cfs_quota_us"), number_in(group + "cpu.cfs_period_us"));
  return processors;
}

const Limits& limits() {
  constinit static NeverDestroyed<const Limits> here;
  return here.get([] { return Limits(""); });
}

void limit_memory(std::size_t bytes) {
  rlimit data{};
  getrlimit(RLIMIT_DATA, &data);
  data.rlim_cur = std::min<rlim_t>(bytes, data.rlim_max);
  setrlimit(RLIMIT_DATA, &data);
}

namespace {

/// The processors that cgroups grant time of, at most `processors`. Their files are read again after a while: that takes longer than a
/// small system does.
int granted_lately(int processors) {
  using Clock = std::chrono::steady_clock;
  constexpr auto a_while = std::chrono::milliseconds(100);
  struct Answer {
    int asked = 0, granted = 0;
    Clock::time_point when;
  };
  thread_local Answer last;
  const auto now = Clock::now();
  if (last.asked != processors || now - last.when > a_while)
    last = {processors, limits().granted_processors(processors), now};
  return last.granted;
}

}  // namespace

int usable_processors() {
  // A machine may have more processors than a cpu_set_t: the kernel says no until the set is large enough.
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0)
      return granted_lately(std::max(1, CPU_COUNT_S(bytes, mask.data())));
  }
  return granted_lately(std::max(1, int(sysconf(_SC_NPROCESSORS_ONLN))));
}

}  // namespace lasolve
