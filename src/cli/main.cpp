// lasolve, the tool: exit codes and signals.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "core/choose.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"

namespace {

using namespace lasolve;
using namespace lasolve::cli;

/// Nothing half-written stays behind.
extern "C" void interrupted(int signal) {
  io::remove_pending_temporaries();
  constexpr char text[] = "\nlasolve: interrupted\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(internal);
  _exit(128 + signal);
}

bool is_bench(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "bench") == 0; }

int run(int argc, char** argv) {
  if (is_bench(argc, argv)) return bench_gemm(parse_bench(argc - 1, argv + 1));
  const Request request = parse_command_line(argc, argv);
  switch (request.command) {
    case Command::solve:
      return solve(request);
    case Command::generate:
      return generate(request);
    case Command::list:
      fmt::print("{}", list_of_backends());
      return done;
    case Command::help:
      fmt::print("{}", help());
      return done;
    case Command::version:
      fmt::print("lasolve {}\n", version());
      return done;
  }
  return internal;
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
  if (std::signal(SIGHUP, SIG_IGN) != SIG_IGN) std::signal(SIGHUP, interrupted);  // nohup stays
  std::signal(SIGXFSZ, SIG_IGN);                                                  // then write() fails, and says so
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw io::OutputError(std::string("cannot write standard output: ") + std::strerror(errno));
    return code;
  } catch (const UsageError& e) {
    return fail(usage, fmt::format("lasolve: {}\n'lasolve {}--help' lists the options", e.what(),
                                   is_bench(argc, argv) ? "bench " : ""));
  } catch (const UnknownName& e) {
    return fail(usage, fmt::format("lasolve: {}", e.what()));
  } catch (const io::GeneratorError& e) {
    return fail(usage, fmt::format("lasolve: {}", e.what()));
  } catch (const io::InputError& e) {
    return fail(bad_input, e.what());
  } catch (const io::OutputError& e) {
    return fail(machine, fmt::format("lasolve: {}", e.what()));
  } catch (const MachineError& e) {
    return fail(machine, fmt::format("lasolve: {}", e.what()));
  } catch (const std::bad_alloc&) {
    return fail(machine, "lasolve: not enough host memory");
  } catch (const std::invalid_argument& e) {  // require() names the library itself
    return fail(usage,
                std::string(e.what()).starts_with("lasolve: ") ? e.what() : fmt::format("lasolve: {}", e.what()));
  } catch (const std::exception& e) {
    return fail(internal, fmt::format("lasolve: internal error: {}", e.what()));
  }
}
