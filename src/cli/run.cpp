// lasolve run: a program with its calls of LAPACK caught by the drop-in, and what they were.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/guide.hpp"
#include "cli/json.hpp"
#include "cli/print.hpp"
#include "cli/words.hpp"
#include "core/module.hpp"
#include "core/stopwatch.hpp"
#include "lapack/tally.hpp"
#include "plugin/program.hpp"

namespace lasolve::cli {

namespace {

struct RunRequest {
  std::string json;
  bool quiet = false;
  std::string gemm = "auto";
  Device device = {Device::cpu, 0};
  std::vector<std::pair<const char*, std::string>> variables;  // of the environment of the program
};

/// An option that the drop-in reads from the environment. A word is tried here, before a program runs for hours.
template <class Try>
OptionOf<RunRequest> handed_on(OptionOf<RunRequest> option, const char* variable, Try try_it) {
  return option.to([=](RunRequest& r, const std::string& word) {
    try_it(r, word);
    r.variables.emplace_back(variable, word);
  });
}

/// One that is a whole number.
OptionOf<RunRequest> number_handed_on(OptionOf<RunRequest> option, const char* variable, std::int64_t least) {
  return handed_on(option, variable,
                   [=, name = option.name](RunRequest&, const std::string& word) { number(name, word, least); });
}

const Table<RunRequest>& run_table() {
  using O = OptionOf<RunRequest>;
  static const Table<RunRequest> all = {
      handed_on(O("gemm", 0, "BACKEND", "the backend whose products are used; without it the fastest"), "LASOLVE_GEMM",
                [](RunRequest& r, const std::string& word) { r.gemm = word; }),
      handed_on(O("device", 0, "DEVICE", "cpu",
                  "where systems are factored and solved that are large enough: cpu, cuda, cuda:INDEX or auto"),
                "LASOLVE_DEVICE", [](RunRequest& r, const std::string& word) { r.device = device_of(word); }),
      number_handed_on(O("device-crossover", 0, "ORDER", "smaller systems stay on the CPU; 0: none does"),
                       "LASOLVE_DEVICE_CROSSOVER", 0),
      number_handed_on(O("crossover", 0, "ORDER", "smaller systems go to the LAPACK of the program; 0: none does"),
                       "LASOLVE_CROSSOVER", 0),
      number_handed_on(O("block-size", 0, "SIZE", "columns of a panel at most"), "LASOLVE_BLOCK_SIZE", 1),
      handed_on(O("threads", 0, "COUNT", "cores to use"), "LASOLVE_THREADS",
                [](RunRequest&, const std::string& word) { threads_of(word); }),
      json_option<RunRequest>("write what was caught as JSON"),
      quiet_option<RunRequest>("say nothing of what was caught, unless that is nothing"),
      help_option<RunRequest>(),
  };
  return all;
}

/// Before a program runs for hours. Whether a device is there, the drop-in finds out, which can do without one; to ask here would start
/// CUDA in this process, too.
void try_backend(const RunRequest& r) {
  static const CudaDevices none;
  CudaHere here;
  if (r.device.kind != Device::cpu) here.devices = []() -> const CudaDevices& { return none; };
  try {
    choose({.gemm = r.gemm, .device = r.device}, here);
  } catch (const NotHere&) {
    if (r.device.kind == Device::cpu) throw;
  }
}

/// Beside the tool, or where the libraries of an installed one are.
std::string drop_in() {
  std::string file = beside_this_program({"liblasolve_lapack.so", LASOLVE_BIN_TO_LIB "/liblasolve_lapack.so"});
  if (!file.empty()) return file;
  throw MachineError("liblasolve_lapack.so is not there; in the folder of the build: ninja lasolve_lapack");
}

/// Memory that the drop-in shares with us, in a file that ends with this object.
class SharedTally {
 public:
  SharedTally() : name_((std::filesystem::temp_directory_path() / "lasolve-run-XXXXXX").string()) {
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    void* memory = MAP_FAILED;
    if (descriptor_ >= 0 && ftruncate(descriptor_, sizeof(lapack::Tally)) == 0)
      memory = mmap(nullptr, sizeof(lapack::Tally), PROT_READ, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) {
      const std::string why = std::strerror(errno);
      close();
      throw MachineError(fmt::format("cannot make {}: {}", name_, why));
    }
    tally_ = static_cast<const lapack::Tally*>(memory);
  }
  ~SharedTally() { close(); }
  SharedTally(const SharedTally&) = delete;
  SharedTally& operator=(const SharedTally&) = delete;

  const std::string& name() const { return name_; }
  const lapack::Tally& operator*() const { return *tally_; }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_), unlink(name_.c_str());
  }

  std::string name_;
  int descriptor_ = -1;
  const lapack::Tally* tally_ = nullptr;
};

volatile pid_t program = 0;
extern "C" void hand_on(int signal) { kill(program, signal); }

/// The exit code of a program when it has ended. A terminal gives its signals to the program, too; others come to us alone.
int run(const std::vector<std::string>& words) {
  program = plugin::start(words);
  if (program < 0) throw MachineError(fmt::format("cannot run {}: {}", words[0], std::strerror(errno)));
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGHUP})
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, hand_on);
  return plugin::exit_code_of(program);
}

struct Caught {
  Json rows = Json::array();
  std::int64_t ours = 0, passed = 0;
  std::string text;
};

Caught caught_in(const lapack::Tally& tally) {
  Caught all;
  for (std::size_t i = 0; i < tally.rows.size(); ++i)
    for (const bool is_double : {false, true}) {
      const lapack::Tally::Row& row = tally.rows[i][is_double];
      const std::int64_t ours = row.ours, passed = row.passed;
      if (ours + passed == 0) continue;
      const std::string name = (is_double ? "d" : "s") + std::string(lapack::names_of_routines[i]);
      const double seconds = 1e-9 * double(row.nanoseconds);
      all.ours += ours, all.passed += passed;
      all.rows.push_back({{"routine", name},
                          {"calls", ours},
                          {"largest", row.largest.load()},
                          {"seconds", seconds},
                          {"passed_on", passed}});
      all.text += fmt::format("{:<10}{:>8}{:>11}{:>12.6f}{:>11}\n", name, ours, row.largest.load(), seconds, passed);
    }
  return all;
}

std::string for_people(const lapack::Tally& tally, const Caught& caught) {
  if (tally.refused[0] && caught.ours == 0) return fmt::format("lasolve: nothing was solved here: {}\n", tally.refused);
  if (caught.ours + caught.passed == 0)
    return "lasolve: no call of LAPACK was caught: the program makes none that the drop-in has, or is linked with a "
           "LAPACK of its own\n";
  if (caught.ours == 0)
    return fmt::format(
        "lasolve: none of {} calls of LAPACK was solved here: all were of systems below n = {}, see "
        "--crossover\n",
        caught.passed, tally.crossover);
  const std::string products_of_device =
      tally.device[0] ? fmt::format("products  {:>8}   by {} on {}\n", tally.products_of_device.load(),
                                    tally.gemm_of_device, tally.device)
                      : "";
  return fmt::format("\nroutine      calls  largest n     seconds  passed on\n{}products  {:>8}   by {} on the CPU\n{}",
                     caught.text, tally.products.load(), tally.gemm, products_of_device);
}

}  // namespace

std::vector<Option> run_options() { return listed_in(run_table()); }

int run_program_command(int argc, const char* const* argv) {
  const auto* const end = argv + argc;
  const auto* const dashes = std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  RunRequest request;
  parse_options(int(dashes - argv), argv, run_table(), request);
  try_backend(request);
  if (end - dashes < 2) throw UsageError("run takes a program behind --, as in: lasolve run -- python3 program.py");
  const SharedTally tally;
  const char* const before = std::getenv("LD_PRELOAD");
  request.variables.emplace_back("LD_PRELOAD", drop_in() + (before && *before ? std::string(":") + before : ""));
  request.variables.emplace_back(lapack::tally_variable, tally.name());
  for (const auto& [name, value] : request.variables) setenv(name, value.c_str(), 1);

  const Stopwatch watch;
  const int code = run({dashes + 1, end});
  const double seconds = watch.seconds();
  const Caught caught = caught_in(*tally);
  if (!request.quiet || caught.ours == 0) fmt::print(stderr, "{}", for_people(*tally, caught));
  if (!request.json.empty())
    write_text(request.json, text_of({{"exit_code", code},
                                      {"seconds", seconds},
                                      {"gemm", (*tally).gemm},
                                      {"crossover", (*tally).crossover},
                                      {"refused", (*tally).refused},
                                      {"products", (*tally).products.load()},
                                      {"device", (*tally).device},
                                      {"gemm_of_device", (*tally).gemm_of_device},
                                      {"products_of_device", (*tally).products_of_device.load()},
                                      {"routines", caught.rows}}));
  return code == 0 && caught.ours == 0 ? caught_nothing : code;
}

}  // namespace lasolve::cli
