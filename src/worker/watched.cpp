#include "worker/watched.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "core/range.hpp"
#include "plugin/kernels.hpp"
#include "worker/exit_code.hpp"
#include "worker/protocol.hpp"

namespace lasolve::worker {

namespace {

using plugin::is_plugin;
using Lost = std::map<std::string, std::string>;

/// This process, if it is watched.
struct Self {
  bool is_watched = false;
  std::string running;  // the backend of the run that began last
  Lost lost;
};
Self& self() {
  static Self it;
  return it;
}

[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(128 + signal);
}

std::vector<std::string> command_line(const Watched& what, const Lost& lost) {
  std::vector<std::string> words = command_of("command");
  words.push_back(std::to_string(lost.size()));
  for (const auto& [name, how] : lost) words.insert(words.end(), {name, how});
  words.insert(words.end(), what.words.begin(), what.words.end());
  return words;
}

/// Says what has happened, and which kernels are out for it. Whether any is.
bool blame(const Ending& end, const Watched& what, Lost& lost) {
  std::vector<std::string> suspects;
  for (const std::string& name : what.backends)
    if (is_plugin(name) && lost.count(name) == 0) suspects.push_back(name);
  if (contains(suspects, end.running)) {
    lost[end.running] = end.how;
    fmt::print(stderr, "lasolve: {}: in a {} it {}\n", end.running, what.run, end.how);
    return true;
  }
  const std::string whose = end.running.empty() ? "the process" : end.running;
  for (const std::string& name : suspects) lost[name] = fmt::format("was in the process when {} {}", whose, end.how);
  fmt::print(stderr, "lasolve: {}: in a {} it {}{}\n", whose, what.run, end.how,
             suspects.empty() ? "" : fmt::format("; {} may have spoilt the process", fmt::join(suspects, " or ")));
  return !suspects.empty();
}

}  // namespace

bool has_to_watch(const std::vector<std::string>& backends) { return !is_watched() && any_of(backends, is_plugin); }

int watch(const Watched& what) {
  Lost lost;
  for (;;) {
    const int orphans = orphans_ended();
    Ending end;
    {
      Child child(command_line(what, lost), Child::shared);
      end = Supervisor(what.patience).listen(child);
    }
    if (!end.done && end.signal == SIGPIPE && !end.in_run) die_of(SIGPIPE);  // whoever reads our output is gone
    if (const int left = orphans_ended() - orphans; left > 0)
      fmt::print(stderr, "lasolve: note: a plugin kernel left {} {} behind, which {} ended\n", left,
                 left == 1 ? "process" : "processes", left == 1 ? "was" : "were");
    if (end.done) return *end.done;
    if (!blame(end, what, lost)) return internal;
    if (!what.comes_again) {
      fmt::print(stderr, "lasolve: what was read cannot be read again: there is no result\n");
      return not_accurate;
    }
  }
}

std::vector<std::string> be_watched(const std::vector<std::string>& words) {
  self().is_watched = true;
  std::size_t w = 0;
  for (std::size_t count = std::stoul(words.at(w++)); count > 0; --count, w += 2)
    self().lost[words.at(w)] = words.at(w + 1);
  return {words.begin() + std::ptrdiff_t(w), words.end()};
}

bool is_watched() { return self().is_watched; }
const Lost& lost_kernels() { return self().lost; }

void begin_run(const std::string& backend, double multiplications) {
  if (!is_watched()) return;
  self().running = backend;
  tell_run(backend, multiplications);
}

void end_run() {
  const auto is_open = [](int stream) { return fcntl(stream, F_GETFD) != -1; };
  if (!is_watched()) return;
  if (!(is_open(STDOUT_FILENO) && is_open(STDERR_FILENO)))
    give_up(self().running, "closed standard output or standard error");
  tell_end_of_run();
}

void give_up(const std::string& backend, const std::string& how) {
  if (!is_watched()) return;
  tell_spoilt(backend, how);
  _exit(not_accurate);
}

RedirectedOutput::RedirectedOutput() {
  if (!is_watched()) return;
  std::fflush(stdout);
  output_ = dup(STDOUT_FILENO);
  if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}
RedirectedOutput::~RedirectedOutput() {
  if (output_ < 0) return;
  std::fflush(stdout);
  dup2(output_, STDOUT_FILENO);
  close(output_);
}

}  // namespace lasolve::worker
