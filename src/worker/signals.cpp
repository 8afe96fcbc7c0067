#include "worker/signals.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "io/input_file.hpp"
#include "io/output_file.hpp"
#include "lasolve/matrix.hpp"
#include "worker/child.hpp"
#include "worker/exit_code.hpp"
#include "worker/watched.hpp"

namespace lasolve::worker {

namespace {

void say(const char* text) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

bool interruption_is_said = true;

extern "C" void interrupted(int signal) {
  io::remove_pending_temporaries();
  end_children();
  if (!is_watched() && interruption_is_said) say("\nlasolve: interrupted\n");
  _exit(128 + signal);
}

/// Dies of the signal, as without a handler.
extern "C" void killed(int signal) {
  io::remove_pending_temporaries();
  end_children();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

extern "C" void not_readable(int signal, siginfo_t* about, void*) {
  const char* const name = io::mapped_file_at(about->si_addr);
  if (name == nullptr) {
    std::signal(signal, SIG_DFL);  // the access is made again, and ends the process
    return;
  }
  io::remove_pending_temporaries();
  say(name);
  say(": error: it was shortened, or its disk failed, while it was read\n");
  _exit(bad_input);
}

/// What cannot be thrown, or not be caught, ends here: std::terminate. No type: there was no memory for the exception.
[[noreturn]] void terminated() {
  io::remove_pending_temporaries();
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const bool memory = !type || *type == typeid(std::bad_alloc) || *type == typeid(OutOfMemory);
  say(memory ? no_memory : "lasolve: internal error: an exception was not caught");
  say("\n");
  _exit(memory ? machine : internal);
}

}  // namespace

void handle_uncaught_exceptions() { std::set_terminate(terminated); }

void handle_signals(bool says_so) {
  interruption_is_said = says_so;
  const auto handle = [](int signal, void (*handler)(int)) {
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, handler);
  };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, interrupted);
  for (const int signal : {SIGPIPE, SIGQUIT, SIGXCPU}) handle(signal, killed);
  std::signal(SIGXFSZ, SIG_IGN);  // then write() fails, and says so
  struct sigaction action {};
  action.sa_sigaction = not_readable;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_PATH);  // the lowest number that is free
}

}  // namespace lasolve::worker
