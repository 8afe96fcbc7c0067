#include "cli/compare/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "io/descriptor.hpp"
#include "lasolve/matrix.hpp"

extern char** environ;

namespace lasolve::cli {

namespace {

/// The script, beside the tool where it was built or installed. Empty: it is in neither place.
std::string find_script() {
  std::error_code error;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {LASOLVE_BIN_TO_DATA "/lasolve/pictures", "../scripts/pictures"})
    if (const auto path = tool / place; !tool.empty() && std::filesystem::exists(path, error))
      return path.lexically_normal();
  return "";
}

struct Answer {
  int status = -1;  // of the process; −1: it was none
  std::string output;
};

/// Runs a program with a text as its standard input.
Answer run(std::vector<std::string> words, const std::string& input, bool quiet) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) throw MachineError(std::string("no pipe: ") + std::strerror(errno));
  const io::Descriptor read_in(in[0]);
  io::Descriptor write_in(in[1]);
  if (pipe2(out, O_CLOEXEC) != 0) throw MachineError(std::string("no pipe: ") + std::strerror(errno));
  const io::Descriptor read_out(out[0]);
  io::Descriptor write_out(out[1]);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  if (quiet) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return {};
  write_out = io::Descriptor();
  Answer answer;
  std::size_t written = 0;
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  char buffer[1 << 16];
  for (bool listening = true; listening;) {
    if (written == input.size()) write_in = io::Descriptor();
    pollfd both[] = {{read_out.number(), POLLIN, 0}, {written < input.size() ? in[1] : -1, POLLOUT, 0}};
    if (poll(both, 2, -1) < 0 && errno != EINTR) break;
    if (both[1].revents != 0) {
      const ssize_t n = write(in[1], input.data() + written, input.size() - written);
      written = n >= 0 ? written + std::size_t(n) : errno == EAGAIN || errno == EINTR ? written : input.size();
    }
    if (both[0].revents != 0) {
      const ssize_t n = read(read_out.number(), buffer, sizeof buffer);
      if (n > 0) answer.output.append(buffer, std::size_t(n));
      listening = n > 0 || (n < 0 && errno == EINTR);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return answer;
}

/// The first that can draw: that of a virtual environment, then the system's. The script turns to the system's by itself where the
/// first has no matplotlib, so this is for where the first does not even start.
std::string find_python(const std::string& script) {
  bool any = false;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const int status = run({python, script, "--check"}, "", true).status;
    if (status == 0) return python;
    any |= status >= 0 && status != 127;
  }
  throw MachineError(
      any ? "pictures take matplotlib; on Debian and Ubuntu it is the package python3-matplotlib"
          : "pictures take Python; on Debian and Ubuntu it is the packages python3 and python3-matplotlib");
}

std::string script_or_error() {
  std::string script = find_script();
  if (script.empty())
    throw MachineError(
        "the script that draws is not beside the tool: it is share/lasolve/pictures where lasolve is installed, and "
        "scripts/pictures in the sources");
  return script;
}

}  // namespace

void require_report_tools() { find_python(script_or_error()); }

std::string report_page(const std::string& json) {
  const std::string script = script_or_error();
  const Answer answer = run({find_python(script), script, "--report"}, json, false);
  if (answer.status != 0 || answer.output.empty())
    throw MachineError(fmt::format("the report could not be drawn: {} ended with {}", script, answer.status));
  return answer.output;
}

}  // namespace lasolve::cli
