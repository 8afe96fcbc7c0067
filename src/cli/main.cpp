// lasolve, the tool: exit codes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "cli/commands.hpp"
#include "cli/compare/run.hpp"
#include "cli/engine/engine.hpp"
#include "cli/failure.hpp"
#include "cli/guide.hpp"
#include "core/choose.hpp"
#include "core/sizes.hpp"
#include "io/generators.hpp"
#include "io/io.hpp"
#include "lasolve/names.hpp"
#include "plugin/kernels.hpp"
#include "plugin/program.hpp"
#include "worker/protocol.hpp"
#include "worker/signals.hpp"
#include "worker/verify.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace {

/// How much there is, if there is enough to find that out.
Failure want_of_memory() {
  try {
    return {machine, fmt::format("{}: {} free", worker::no_memory, in_bytes(double(Memory<Cpu>::available())))};
  } catch (const std::bad_alloc&) {
    return {machine, "", worker::no_memory};
  }
}

}  // namespace

Failure current_failure(const char* command) {
  try {
    throw;
  } catch (const UsageError& e) {
    return {usage, fmt::format("lasolve: {}\n'lasolve {} --help' lists the options", e.what(),
                               find_guide(command) ? command : "solve")};
  } catch (const UnknownName& e) {
    const std::string others = e.unsaid.empty() ? "" : fmt::format("\n  backends: {}", fmt::join(e.unsaid, ", "));
    return {usage, fmt::format("lasolve: {}{}", e.what(), others)};
  } catch (const io::GeneratorError& e) {
    return {usage, fmt::format("lasolve: {}", e.what())};
  } catch (const io::InputError& e) {
    return {bad_input, e.what()};
  } catch (const io::OutputError& e) {
    return {machine, fmt::format("lasolve: {}", e.what())};
  } catch (const NotHere& e) {
    return {machine, fmt::format("lasolve: {}\n  would run here: --device {} --gemm {}", e.what(),
                                 e.instead.index > 0 ? name_of(e.instead) : name_of(e.instead.kind), e.gemm_instead)};
  } catch (const MachineError& e) {
    return {machine, fmt::format("lasolve: {}", e.what())};
  } catch (const std::bad_alloc&) {
    return want_of_memory();
  } catch (const std::invalid_argument& e) {  // require() names the library itself
    const std::string what = e.what();
    return {usage, what.starts_with("lasolve: ") ? what : "lasolve: " + what};
  } catch (const std::exception& e) {
    return {internal, fmt::format("lasolve: internal error: {}", e.what())};
  }
}

}  // namespace lasolve::cli

namespace {

using namespace lasolve;
using namespace lasolve::cli;

bool is_command(int argc, char** argv, const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; }

int run_command(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (argc == 2 && (word == "--help" || word == "-h")) return help_command(0, argv);
  const CommandGuide* const guide = find_guide(word);
  if (!guide && argc > 1 && word[0] != '-' && !is_matrix(word))
    throw UsageError(fmt::format("there is no command and no file '{}'{}; 'lasolve help' lists the commands", word,
                                 did_you_mean(word, names_of_commands())));
  try {
    return guide ? guide->run(argc - 1, argv + 1) : solve_command(argc, argv);
  } catch (const HelpAsked&) {
    if (!is_said_by_another_rank(argc, argv)) fmt::print("{}", help_of(guide ? word : "solve"));
    return done;
  }
}

/// The exit code of f(argc, argv). What ends it is said, but for what all ranks of an engine meet alike: that the first one says.
template <class F>
int guarded(int argc, char** argv, F f) {
  try {
    const int code = f(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw io::OutputError(std::string("cannot write standard output: ") + std::strerror(errno));
    return code;
  } catch (...) {
    const Failure failure = current_failure(argc > 1 ? argv[1] : "");
    if (is_said_by_another_rank(argc, argv)) wait_for_first_rank();
    std::fputs(failure.message(), stderr), std::fputs("\n", stderr);
    return failure.code;
  }
}

/// A word that no person types: this process is a worker, for the sake of kernels that may crash.
int work(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "";
  const bool is_command = kind == "command";
  worker::be_a_child(is_command ? worker::Child::shared : worker::Child::separate);
  std::vector<std::string> words = {argv[0]};
  int code = guarded(argc, argv, [&](int, char**) -> int {
    std::vector<std::string> words_for_worker(argv + 3, argv + argc);
    words_for_worker.erase(words_for_worker.begin(),
                           words_for_worker.begin() + std::ptrdiff_t(plugin::load_from_words(words_for_worker)));
    if (kind == "verify") return worker::verify_worker(words_for_worker);
    if (kind == "size") return size_worker(words_for_worker);
    for (std::string& word : worker::be_watched(words_for_worker)) words.push_back(std::move(word));
    return done;
  });
  if (!is_command) return code;
  if (code == done) code = guarded(int(words.size()), plugin::argv_of(words).data(), run_command);
  worker::tell_done(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  worker::handle_uncaught_exceptions();
  worker::open_standard_streams();
  worker::handle_signals(!is_said_by_another_rank(argc, argv));
  return is_command(argc, argv, "worker") && argc > 2 ? work(argc, argv) : guarded(argc, argv, run_command);
}
