#include "worker/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "lasolve/matrix.hpp"
#include "plugin/program.hpp"

extern char** environ;

namespace lasolve::worker {

namespace {

/// Where the child writes. Separate, 0 to 2 are the kernel's, which may print. Else others may have been inherited, too.
constexpr int reports_of(Child::Streams streams) { return streams == Child::separate ? 3 : 99; }

[[noreturn]] void cannot_start(int error) {
  throw MachineError(fmt::format("cannot start a process for kernels: {}", std::strerror(error)));
}

/// Those that run, for end_children(): a group of processes is negative.
std::array<std::atomic<pid_t>, 8> running{};

void note_running(pid_t of) {
  for (auto& place : running)
    if (pid_t none = 0; place.compare_exchange_strong(none, of)) return;
}
void note_ended(pid_t of) {
  for (auto& place : running)
    if (pid_t it = of; place.compare_exchange_strong(it, 0)) return;
}

int reports = reports_of(Child::separate);
pid_t reporter = 0;

/// The processes whose parent is this one, as Linux tells it, and whether each has ended.
std::map<pid_t, bool> children() {
  std::map<pid_t, bool> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t behind_name = line.rfind(')');  // which may hold anything
    if (behind_name == line.npos || line.size() < behind_name + 4) continue;
    const bool is_ours = std::strtol(line.c_str() + behind_name + 4, nullptr, 10) == getpid();
    if (is_ours) all[pid_t(std::stol(name))] = line[behind_name + 2] == 'Z';
  }
  return all;
}

/// Those that this process had when it began to start others: whoever has become this program may have left some.
const std::map<pid_t, bool>& inherited() {
  static const std::map<pid_t, bool> all = children();
  return all;
}

/// What children leave behind becomes a child of this process.
void adopt_orphans() {
  inherited();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int orphans = 0;

void end_orphans() {
  for (int generations = 0; generations < 10; ++generations) {  // those of one that is ended come next
    std::map<pid_t, bool> left = children();
    for (const auto& [process, ended] : inherited()) left.erase(process);
    for (const auto& place : running) left.erase(std::abs(place));
    if (left.empty()) return;
    for (const auto& [process, ended] : left) {
      orphans += !ended;
      if (ended || kill(process, SIGKILL) == 0) waitpid(process, nullptr, 0);
    }
  }
}

}  // namespace

Child::Child(const std::vector<std::string>& words, Streams streams) : streams_(streams) {
  adopt_orphans();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) cannot_start(errno);
  from_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], reports_of(streams));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (streams == separate) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // results are the parent's to print
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);              // of its own
  }
  const std::vector<char*> arguments = plugin::argv_of(words);
  const int error = posix_spawn(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    process_ = -1;
    close(from_);
    cannot_start(error);
  }
  note_running(streams == separate ? -process_ : process_);
}

Child::~Child() {
  close(from_);
  if (process_ > 0) kill(process_, SIGKILL), wait();
}

Child::Received Child::listen(std::string& to, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double slice = 1;  // a longer one has passed while this process was stopped
  std::size_t end_of_line;
  while ((end_of_line = unread_.find('\n')) == unread_.npos) {
    if (seconds <= 0) return nothing;
    pollfd ready{from_, POLLIN, 0};
    const auto before = Clock::now();
    if (poll(&ready, 1, int(1e3 * std::min(seconds, slice) + 1)) <= 0) {
      seconds -= std::min(std::chrono::duration<double>(Clock::now() - before).count(), 1.1 * slice);
      if (has_ended() && poll(&ready, 1, 0) <= 0) return end;  // what it has started may hold the pipe open
      continue;
    }
    char more[4096];
    const ssize_t count = read(from_, more, sizeof more);
    if (count == 0 || (count < 0 && errno != EINTR)) return end;
    if (count > 0) unread_.append(more, std::size_t(count));
  }
  to = unread_.substr(0, end_of_line);
  unread_.erase(0, end_of_line + 1);
  return line;
}

Child::End Child::end_of_it() {
  const int status = wait();
  if (!WIFSIGNALED(status)) return {0, fmt::format("ended its process with code {}", WEXITSTATUS(status))};
  const int signal = WTERMSIG(status);
  return {signal, fmt::format("crashed (SIG{}: {})", sigabbrev_np(signal), strsignal(signal))};
}

bool Child::has_ended() const {
  siginfo_t about{};
  return waitid(P_PID, id_t(process_), &about, WEXITED | WNOWAIT | WNOHANG) == 0 && about.si_pid == process_;
}

/// While it has ended and nobody has asked how, its number is nobody else's: then its group is ended.
int Child::wait() {
  const pid_t process = std::exchange(process_, -1);
  siginfo_t about{};
  while (waitid(P_PID, id_t(process), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  end_orphans();
  if (streams_ == separate) kill(-process, SIGKILL);
  note_ended(streams_ == separate ? -process : process);
  return plugin::wait_for(process);
}

int orphans_ended() { return orphans; }

void end_children() {
  for (const auto& place : running)
    if (const pid_t p = place; p != 0) kill(p, p < 0 ? SIGKILL : SIGTERM);
}

void be_a_child(Child::Streams streams) {
  reports = reports_of(streams), reporter = getpid();
  fcntl(reports, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, streams == Child::separate ? SIGKILL : SIGTERM);
  if (streams == Child::separate)
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

void tell_parent(std::string_view lines) {
  if (getpid() != reporter) _exit(0);
  while (!lines.empty()) {
    const ssize_t count = write(reports, lines.data(), lines.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    lines.remove_prefix(std::size_t(count));
  }
}

}  // namespace lasolve::worker
