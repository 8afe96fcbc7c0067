#include "bench/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "lasolve/matrix.hpp"

extern char** environ;

namespace lasolve::bench {

namespace {

/// Where the child writes; 0 to 2 are the kernel's, which may print.
constexpr int reports = 3;

[[noreturn]] void cannot_start(int error) {
  throw MachineError(fmt::format("cannot start a process for kernels: {}", std::strerror(error)));
}

}  // namespace

Child::Child(const std::vector<std::string>& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) cannot_start(errno);
  from_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], reports);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // results are the parent's to print
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error = posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(from_);
    cannot_start(error);
  }
}

Child::~Child() {
  close(from_);
  if (process_ > 0) kill(process_, SIGKILL), wait();
}

Child::Heard Child::listen(void* to, std::size_t bytes, double seconds) {
  auto* at = static_cast<char*>(to);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (bytes > 0) {
    const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return nothing;
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, int(std::min(1e3 * left + 1, 1e9))) <= 0) continue;
    const ssize_t count = read(from_, at, bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) return end;
    if (count > 0) at += count, bytes -= std::size_t(count);
  }
  return message;
}

Child::End Child::end_of_it() {
  const int status = wait();
  if (!WIFSIGNALED(status)) return {false, fmt::format("ended its process with code {}", WEXITSTATUS(status))};
  const int signal = WTERMSIG(status);
  return {true, fmt::format("crashed (SIG{}: {})", sigabbrev_np(signal), strsignal(signal))};
}

int Child::wait() {
  const pid_t process = std::exchange(process_, -1);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void be_a_child() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

void tell_parent(const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t count = write(reports, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    at += count, bytes -= std::size_t(count);
  }
}

}  // namespace lasolve::bench
