#include "cli/watched.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>

#include "bench/child.hpp"
#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::cli {

namespace {

using bench::Child;

/// What the child says: the same program reads it. A message is written at once or not at all.
struct WatchedMessage {
  enum Kind : int {
    begins,  // a run of the backend `name`
    ends,    // of the run
    spoilt,  // the backend `name` is not to be believed: `text` says why
    done     // the command has ended with `code`
  } kind = begins;
  int code = 0;
  double multiplications = 0;
  char name[256] = "", text[512] = "";

  static void put(char* to, std::size_t size, const std::string& words) {
    to[std::min(words.size(), size - 1)] = 0;
    std::copy_n(words.begin(), std::min(words.size(), size - 1), to);
  }
};
static_assert(sizeof(WatchedMessage) <= 4096);  // PIPE_BUF

/// This process, if it is watched.
struct Self {
  bool is_watched = false;
  std::string running;  // the backend of the run that began last
  std::map<std::string, std::string> lost;
};
Self& self() {
  static Self it;
  return it;
}

void tell(const WatchedMessage& m) {
  if (self().is_watched) bench::tell_parent(&m, sizeof m);
}

[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(128 + signal);
}

/// A backend that did not come back from a run, and why.
struct LostBackend {
  std::string backend, how;
};

/// Listens to a child until it is done, or is lost.
class WatchedConversation {
 public:
  explicit WatchedConversation(const Watched& what) : what_(what) {}

  std::optional<LostBackend> hold(Child& child) {
    for (;;) {
      WatchedMessage m;
      switch (child.listen(&m, sizeof m, runs_ ? seconds() : forever)) {
        case Child::nothing:
          return loss(fmt::format("gave no answer for {:.3g} s", seconds()));
        case Child::end: {
          if (code_) return std::nullopt;
          const auto [signal, how] = child.end_of_it();
          if (signal == SIGPIPE && !runs_) die_of(signal);  // whoever reads our output is gone
          return loss(how);
        }
        case Child::message:
          if (m.kind == WatchedMessage::spoilt) return LostBackend{m.name, m.text};
          hear(m);
      }
    }
  }
  int code() const { return *code_; }

 private:
  static constexpr double forever = 1e9, slowest_multiplication = 20e-9;

  double seconds() const { return what_.patience + slowest_multiplication * multiplications_; }
  LostBackend loss(const std::string& how) const { return {running_, how}; }
  void hear(const WatchedMessage& m) {
    runs_ = m.kind == WatchedMessage::begins;
    if (m.kind == WatchedMessage::begins) running_ = m.name, multiplications_ = m.multiplications;
    if (m.kind == WatchedMessage::done) code_ = m.code;
  }

  const Watched& what_;
  bool runs_ = false;
  std::string running_;  // also after its run: what it did may show later
  double multiplications_ = 0;
  std::optional<int> code_;
};

std::vector<std::string> command_line(const Watched& what, const std::map<std::string, std::string>& lost) {
  std::vector<std::string> words = {"/proc/self/exe", "watched"};
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(loaded_in_words());
  words.push_back(std::to_string(lost.size()));
  for (const auto& [name, how] : lost) add({name, how});
  add(what.words);
  return words;
}

/// Says what has happened, and which kernels are out for it. Whether any is.
bool blame(const LostBackend& loss, const Watched& what, std::map<std::string, std::string>& lost) {
  const auto is_in = [&](const std::string& name) {
    return std::count(what.kernels.begin(), what.kernels.end(), name) > 0 && lost.count(name) == 0;
  };
  if (is_in(loss.backend)) {
    lost[loss.backend] = loss.how;
    fmt::print(stderr, "lasolve: {}: in a {} it {}\n", loss.backend, what.run, loss.how);
    return true;
  }
  std::vector<std::string> suspects;
  for (const std::string& name : what.kernels)
    if (is_in(name)) suspects.push_back(name);
  const std::string whose = loss.backend.empty() ? "the process" : loss.backend;
  for (const std::string& name : suspects) lost[name] = fmt::format("was in the process when {} {}", whose, loss.how);
  fmt::print(stderr, "lasolve: {}: in a {} it {}{}\n", whose, what.run, loss.how,
             suspects.empty() ? "" : fmt::format("; {} may have spoilt the process", fmt::join(suspects, " or ")));
  return !suspects.empty();
}

}  // namespace

int watch(const Watched& what) {
  std::map<std::string, std::string> lost;
  for (;;) {
    const int orphans = bench::orphans_ended();
    WatchedConversation conversation(what);
    std::optional<LostBackend> loss;
    {
      Child child(command_line(what, lost), Child::shared);
      loss = conversation.hold(child);
    }
    if (const int left = bench::orphans_ended() - orphans; left > 0)
      fmt::print(stderr, "lasolve: note: a plugin kernel left {} {} behind, which {} ended\n", left,
                 left == 1 ? "process" : "processes", left == 1 ? "was" : "were");
    if (!loss) return conversation.code();
    if (!blame(*loss, what, lost)) return internal;
    if (!what.comes_again) {
      fmt::print(stderr, "lasolve: what was read cannot be read again: there is no result\n");
      return not_accurate;
    }
  }
}

std::vector<std::string> be_watched(const std::vector<std::string>& words) {
  bench::be_a_child(Child::shared);
  self().is_watched = true;
  std::size_t w = load_as_told(words);
  for (std::size_t count = std::stoul(words.at(w++)); count > 0; --count, w += 2)
    self().lost[words.at(w)] = words.at(w + 1);
  return {words.begin() + std::ptrdiff_t(w), words.end()};
}
void tell_done(int code) { tell({.kind = WatchedMessage::done, .code = code}); }

bool is_watched() { return self().is_watched; }
const std::map<std::string, std::string>& lost_kernels() { return self().lost; }

void tell_begin(const std::string& backend, double multiplications) {
  WatchedMessage m{.kind = WatchedMessage::begins, .multiplications = multiplications};
  WatchedMessage::put(m.name, sizeof m.name, backend);
  self().running = backend;
  tell(m);
}
void tell_end() {
  const auto is_open = [](int stream) { return fcntl(stream, F_GETFD) != -1; };
  if (self().is_watched && !(is_open(STDOUT_FILENO) && is_open(STDERR_FILENO)))
    tell_spoilt(self().running, "closed standard output or standard error");
  tell({.kind = WatchedMessage::ends});
}

void tell_spoilt(const std::string& backend, const std::string& how) {
  WatchedMessage m{.kind = WatchedMessage::spoilt};
  WatchedMessage::put(m.name, sizeof m.name, backend);
  WatchedMessage::put(m.text, sizeof m.text, how);
  tell(m);
  if (self().is_watched) _exit(not_accurate);
}

Aside::Aside() {
  if (!self().is_watched) return;
  std::fflush(stdout);
  output_ = dup(STDOUT_FILENO);
  if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}
Aside::~Aside() {
  if (output_ < 0) return;
  std::fflush(stdout);
  dup2(output_, STDOUT_FILENO);
  close(output_);
}

}  // namespace lasolve::cli
