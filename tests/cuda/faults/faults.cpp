// The tool, whichever call of CUDA fails, in one process: main() of this program calls that of the tool.
//
//   cuda_faults [SECONDS [LOG [LINE]]]    of each line as many failing calls, evenly chosen, as so many seconds allow [4]; 0: every one
//
// It ends well, or with exit status 6 and a word on CUDA; files are whole; nothing is left on the device; and then it solves again. Where
// all calls fail from some call on, further calls are refused, and the CPU solves. Returns 77 where there is no device. What is said goes
// to the file LOG. LINE, from 0, is tried alone.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "calls.hpp"
#include "core/stopwatch.hpp"
#include "faults.hpp"
#include "io/io.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"
#include "silence.hpp"

extern "C" int __real_main(int argc, char** argv);
extern "C" int __wrap_main(int argc, char** argv);

namespace lasolve::test::faults {
namespace {

constexpr int solved = 0, machine = 6;
constexpr const char* before = "what was there before\n";  // in each file of out/

/// A command line of the tool, or a call of the library.
struct Line {
  std::string words;
  bool (*call)() = nullptr;
};

const std::vector<Line> lines = {
    {"--matrix in/a.npy --gemm cublas --tune arriving_bytes=0 --device cuda --output out/x.npy --json out/x.json"},
    {"spd:n=600 --gemm tensor --device cuda --output out/x.npy"},
    {"uniform:n=600 --precision fp32 --gemm tensor_split --tune lu_panels_are_the_bottleneck=200 --device cuda "
     "--output out/x.npy"},
    {"spd:n=500 --precision fp16 --storage bf16 --gemm tensor --refine gmres --device cuda --output out/x.npy"},
    {"diagdom:n=600 --factorization lu-nopivot --gemm pipelined --device cuda --output out/x.npy"},
    {"--matrix in/b.mtx --rhs in/rhs.mtx --gemm tiled --precision fp32 --device cuda --output out/x.mtx.gz"},
    {"uniform:n=100 --device cuda --output out/x.npy"},
    {"uniform:n=500 --in-place --gemm register_tiled --device cuda --output out/x.npy"},
    {"uniform:n=500 --device-memory 1900k --device cuda --output out/x.npy"},
    {"randsvd:n=300 --transpose --bounds --residual extra --equilibrate on --history --device cuda --output out/x.npy"},
    {"compare uniform --n 100 --gemm cublas,tiled --device cuda --unverified --warmup 0 --repeat 3 "
     "--json out/x.json"},
    {"uniform:n=700 -f lu --block-size 128 --device cuda:0,1 --output out/x.npy"},
    {"spd:n=700 -f cholesky --precision fp32 --block-size 128 --device cuda:0,1 --output out/x.npy"},
    {"small systems", solve_small_systems},
    {"in the order of a stream", solve_async},
    {"captured in a graph", solve_captured},
};
bool is_over_cards(const Line& line) { return line.words.find("cuda:0,1") != std::string::npos; }
const Line on_the_cpu = {"uniform:n=200 --device cpu --output out/x.npy"};

/// What is run, for whoever sees it crash or hang.
char now[400];
void crashed(int signal) {
  const char* const how = signal == SIGALRM ? ": does not end\n" : ": crashes\n";
  for (const char* text : {static_cast<const char*>(now), how})
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  _exit(1);
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Result {
  int status = solved;
  std::string said;
  Matrix<double> X;
  std::string wrong;  // empty: the outcome is clean
};

int run_tool(const std::string& line) {
  std::istringstream in("lasolve " + line);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return __real_main(int(words.size()), pointers.data());
}

int run_call(bool (*call)()) try { return call() ? solved : 1; } catch (const MachineError& e) {
  std::puts(e.what());
  return machine;
} catch (const std::exception& e) {
  std::puts(e.what());
  return 70;
}

/// The files in out/, which are as before, or complete.
void judge_files(const Line& line, Result& result) {
  for (const auto& file : std::filesystem::directory_iterator("out")) {
    const std::string name = file.path().filename(), content = content_of(file.path());
    if (line.words.find("out/" + name) == std::string::npos) {
      result.wrong = "it leaves out/" + name;
    } else if (result.status == solved && content == before) {
      result.wrong = "it has not written out/" + name;
    } else if (result.status != solved && content != before && !line.words.starts_with("compare ")) {
      result.wrong = "it has changed out/" + name;  // compare writes it after each size
    } else if (name == "x.json" && content != before && !nlohmann::json::accept(content)) {
      result.wrong = "it has written a part of out/" + name;
    } else if (result.status == solved && name != "x.json") {
      result.X = io::read_matrix(file.path()).matrix;
    }
  }
}

Result run(const Line& line) {
  std::filesystem::remove_all("out");
  std::filesystem::create_directory("out");
  for (const char* name : {"x.npy", "x.mtx.gz", "x.json"})
    if (line.words.find(name) != std::string::npos) std::ofstream(std::string("out/") + name) << before;
  Result result;
  alarm(120);
  {
    const Silence silence;
    result.status = line.call ? run_call(line.call) : run_tool(line.words + " --threads 4");
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGALRM}) std::signal(signal, crashed);
  }
  alarm(0);
  result.said = content_of("said");
  judge_files(line, result);
  if (result.status != solved && result.status != machine)
    result.wrong = "exit status " + std::to_string(result.status);
  return result;
}

bool same(const Matrix<double>& X, const Matrix<double>& Y) {
  if (X.rows() != Y.rows() || X.cols() != Y.cols()) return false;
  double most = 0, apart = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) {
      most = std::max(most, std::abs(X(i, j)));
      if (!(std::abs(X(i, j) - Y(i, j)) <= apart)) apart = std::abs(X(i, j) - Y(i, j));
    }
  return apart <= 1e-7 * most;
}

constexpr const char* name_of(Fault fault) {
  return fault == Fault::one      ? "one call"
         : fault == Fault::memory ? "no more memory"
         : fault == Fault::lost   ? "the device is lost"
                                  : "cuda:1 is lost";
}

class Tried {
 public:
  Tried(const Line& line, double allowed, std::ofstream& log) : line_(line), allowed_(allowed), log_(log) {}

  /// Returns how often that went wrong.
  long all() {
    if (nothing_is_made_) begin_from_nothing();
    nothing_is_made_ = false;
    Counted counted;
    for (int i = 0; i < 4; ++i) {
      const Stopwatch watch;
      counted = run_clean("at the beginning");
      seconds_ = watch.seconds();
      keep_most();
    }
    calls_ = counted.calls;
    some(Fault::one, counted.calls);
    some(Fault::memory, counted.allocations);
    some(Fault::lost, counted.calls);
    if (is_over_cards(line_)) some(Fault::card, counted.calls);
    std::printf(
        "%5ld calls, %3ld allocations, %4ld faults, of which %4ld end in an error, %3ld failures, %6.1f ms: %s\n",
        counted.calls, counted.allocations, faults_, errors_, failures_, 1e3 * seconds_, line_.words.c_str());
    std::fflush(stdout);
    return failures_;
  }

  long faults() const { return faults_; }
  long calls() const { return calls_; }

 private:
  /// What a process makes once is made meanwhile.
  void begin_from_nothing() {
    const Stopwatch watch;
    for (long k = 1; allowed_ == 0 || watch.seconds() < allowed_; ++k)
      if (!one(Fault::one, k)) return;
  }

  void some(Fault fault, long count) {
    constexpr int runs = 2;
    const int kinds = is_over_cards(line_) ? 4 : 3;
    const double most = allowed_ / (kinds * runs * seconds_);
    const long step = allowed_ == 0 ? 1 : std::max(1L, long(std::ceil(double(count) / most)));
    for (long k = 1 + long(&line_ - lines.data()) * 7 % step; k <= count; k += step) {
      if (!one(fault, k)) continue;
      run_clean("afterwards");
    }
  }

  /// Whether a call has failed.
  bool one(Fault fault, long k) {
    say_now(fault, k);
    begin(fault, k);
    Result result = run(line_);
    std::string wrong;
    if (faults_ % 8 == 0)
      wrong = fault == Fault::lost   ? what_is_wrong_when_lost()
              : fault == Fault::card ? what_is_wrong_without_second_card()
                                     : "";
    const Counted counted = end();
    if (counted.failed.empty()) return false;
    ++faults_, errors_ += result.status != solved;
    if (result.wrong.empty()) result.wrong = wrong.empty() ? what_is_wrong(result, fault) : wrong;
    if (result.wrong.empty()) result.wrong = what_grows(fault, k);
    tell(result, counted.failed);
    return true;
  }

  std::string what_is_wrong(const Result& result, Fault fault) {
    if (fault == Fault::card && result.status == machine && result.said.find("cuda:1") == std::string::npos)
      return "it does not name the card";
    if (result.status == machine && result.said.find("CUDA") == std::string::npos &&
        result.said.find("device memory") == std::string::npos)
      return "it does not say what failed";
    return result.status == solved && X_.rows() > 0 && !same(result.X, X_) ? "another answer" : "";
  }

  /// A leak grows each time that the call fails. What is there once more, and then stays, is kept: a graph that ends late has its queue
  /// a little longer, so that the next makes one more.
  std::string what_grows(Fault fault, long k) {
    std::string left = what_is_left();
    for (int again = 0; again < 3 && !left.empty(); ++again) {
      keep_most();
      begin(fault, k);
      const Result result = run(line_);
      if (end().failed.empty()) return "";  // it comes no more
      if (!result.wrong.empty()) return "again: " + result.wrong;
      left = what_is_left();
    }
    return left;
  }

  void keep_most() {
    const Alive now = alive();
    if (!most_) most_ = now;
    for (std::size_t i = 0; i < now.size(); ++i) (*most_)[i] = std::max((*most_)[i], now[i]);
  }

  /// CUDA ends what graphs keep in a thread of its own, some time after the graph.
  std::string what_is_left() {
    constexpr double long_enough = 2;
    std::string left;
    for (const Stopwatch watch; !(left = left_now()).empty() && watch.seconds() < long_enough;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return left;
  }

  std::string left_now() {
    release_unused_memory(0);
    const Alive now = alive();
    std::string left;
    for (std::size_t i = 1; i < now.size(); ++i)
      if (most_ && now[i] > (*most_)[i])
        left += std::to_string(now[i] - (*most_)[i]) + " x " + names_of_objects[i] + " left; ";
    return left;
  }

  static std::string what_is_wrong_when_lost() {
    const Result again = run(lines[0]);
    if (again.status != machine || !again.wrong.empty()) return "a lost device is used again: " + again.wrong;
    if (again.said.find("lost the device") == std::string::npos) return "it does not say why it refuses: " + again.said;
    const Result on_host = run(on_the_cpu);
    return on_host.status == solved ? on_host.wrong : "the CPU does not solve where the device is lost";
  }

  static std::string what_is_wrong_without_second_card() {
    const Result on_first = run(lines[0]);
    return on_first.status == solved ? on_first.wrong : "cuda:0 does not solve where cuda:1 is lost";
  }

  Counted run_clean(const char* when) {
    begin(Fault::none, 0);
    Result result = run(line_);
    const Counted counted = end();
    if (result.wrong.empty() && result.status != solved) result.wrong = "it fails with no fault";
    if (result.wrong.empty() && X_.rows() > 0 && !same(result.X, X_)) result.wrong = "another answer";
    if (result.wrong.empty()) X_ = std::move(result.X);
    release_unused_memory(0);
    if (!result.wrong.empty()) tell(result, when);
    return counted;
  }

  void say_now(Fault fault, long k) {
    std::snprintf(now, sizeof now, "%s, from call %ld on: %s", name_of(fault), k, line_.words.c_str());
  }

  void tell(const Result& result, const std::string& failed) {
    log_ << now << "\n  " << failed << ": " << result.status << " " << result.wrong << "\n    "
         << (result.status == solved ? "" : result.said.substr(0, 400)) << std::endl;
    if (result.wrong.empty()) return;
    if (++failures_ <= 5)
      std::printf("%s\n  %s fails: %s\n    %s\n", now, failed.c_str(), result.wrong.c_str(),
                  result.said.substr(0, 300).c_str());
  }

  static inline bool nothing_is_made_ = true;
  const Line& line_;
  const double allowed_;  // seconds
  std::ofstream& log_;
  Matrix<double> X_;
  std::optional<Alive> most_;  // that were alive when nothing was left
  double seconds_ = 0;
  long calls_ = 0, faults_ = 0, errors_ = 0, failures_ = 0;
};

/// An error of CUDA's own, which ends the context: the last that this process does on the device.
long try_lost_device() {
  std::snprintf(now, sizeof now, "a kernel has written to nowhere");
  lose_device();
  long failures = 0;
  for (const Line& line : lines) {
    if (is_over_cards(line) && !why_no_cuda_device(1).empty()) continue;
    const Result result = run(line);
    const bool says = result.said.find("lost the device") != std::string::npos;
    if (result.status == machine && result.wrong.empty() && says) continue;
    ++failures;
    std::printf("%s: exit status %d %s: %s\n    %s\n", now, result.status, result.wrong.c_str(), line.words.c_str(),
                result.said.substr(0, 300).c_str());
  }
  std::printf("after a kernel that wrote to nowhere: %s", run(lines[0]).said.c_str());
  if (run(on_the_cpu).status != solved) ++failures, std::puts("the CPU does not solve where the device is lost");
  return failures;
}

void make_inputs() {
  for (const char* folder : {"in", "out"}) std::filesystem::create_directory(folder);
  const Silence silence;
  run_tool("generate uniform:n=600 --output in/a.npy");
  run_tool("generate uniform:n=150 --output in/b.mtx");
  Matrix<double> B(150, 5);
  for (std::int64_t j = 0; j < 5; ++j)
    for (std::int64_t i = 0; i < 150; ++i) B(i, j) = double(i * j % 7);
  io::write_matrix("in/rhs.mtx", B.view());
}

int try_all(double allowed, const char* log_file, int alone) {
  if (const std::string why = why_no_cuda_device(0); !why.empty()) return std::puts(why.c_str()), 77;
  std::ofstream log(log_file);
  const auto folder = std::filesystem::temp_directory_path() / ("cuda_faults." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  make_inputs();
  wrap_driver();
  const Stopwatch watch;
  long failures = 0, faults = 0, calls = 0;
  for (const Line& line : lines) {
    if (alone >= 0 && &line != &lines.at(std::size_t(alone))) continue;
    if (const std::string why = why_no_cuda_device(1); is_over_cards(line) && !why.empty()) {
      std::printf("%s: %s\n", why.c_str(), line.words.c_str());
      continue;
    }
    Tried tried(line, allowed, log);
    failures += tried.all();
    faults += tried.faults(), calls += tried.calls();
  }
  failures += try_lost_device();
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  std::printf("%ld faults in %ld calls of %zu lines, %ld failures, %.1f s\n", faults, calls, lines.size(), failures,
              watch.seconds());
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lasolve::test::faults

int __wrap_main(int argc, char** argv) {
  return lasolve::test::faults::try_all(argc > 1 ? std::atof(argv[1]) : 4, argc > 2 ? argv[2] : "/dev/null",
                                        argc > 3 ? std::atoi(argv[3]) : -1);
}
