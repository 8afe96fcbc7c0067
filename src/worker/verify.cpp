#include "worker/verify.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <typeinfo>

#include "core/device_error.hpp"
#include "plugin/backends.hpp"
#include "worker/faults.hpp"

// Lines of this worker, beside those of all: {"run": "", "fault": F, "text": T}, what to say should this be the last;
// {"crashed": CALL, "misaligned": 0 or 1}; {"cases": C, "left_out": L, "errors": [...], "grade": G} and, where there is one, a fault
// of a precision; {"unable": WHY}.

namespace lasolve::worker {

using bench::Fault;
using bench::Task;
using bench::Verdict;

namespace {

constexpr const char* unable = "{\"unable\":\"not enough host memory\"}\n";
volatile std::sig_atomic_t tries = 0;  // a kernel, now

/// Which of the calls that are made at the same time it was that crashed; then the signal comes again, and ends the process.
extern "C" void crashed(int signal, siginfo_t* about, void*) {
  if (!tries) return;
  bool misaligned = signal == SIGBUS && about->si_code == BUS_ADRALN;
#ifdef SI_KERNEL  // of a signal that has no address: the processor has refused it before it was looked up
  misaligned |= signal == SIGSEGV && about->si_code == SI_KERNEL;
#endif
  const KernelCall& c = KernelCalls::of_this_thread();
  char line[1024];  // memory may be spoilt; as members() in faults.hpp has them
  const auto end = fmt::format_to_n(
      line, sizeof line,
      "{{\"crashed\":[{:d},{:d},{:d},{},{},{},{},{},{},\"{}\",\"{}\",{:d},{:d},{:d},{},{},{}],\"misaligned\":{:d}}}\n",
      c.of, c.a_transposed, c.b_transposed, c.m, c.n, c.k, c.lda, c.ldb, c.ldc, c.alpha, c.beta, c.is_scaled,
      c.c_was_nan, c.alone, c.alignment[0], c.alignment[1], c.alignment[2], misaligned);
  tell_parent({line, end.size});
}

void tell_of_crashes() {
  struct sigaction action {};
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | int(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

/// An exception that nobody can catch: of memory, or the kernel's.
[[noreturn]] void ended_by_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type || *type != typeid(std::bad_alloc)) std::abort();
  tell_parent(unable);
  _exit(0);
}

std::vector<std::string> words_of(const Task& task, std::size_t first_precision) {
  std::vector<std::string> words = {task.choice.name(),
                                    task.choice.backend.index() == 0 ? "-1" : std::to_string(task.choice.cuda_device),
                                    std::to_string(task.threads)};
  std::string precisions;
  for (std::size_t p = first_precision; p < task.precisions.size(); ++p)
    precisions += std::to_string(int(task.precisions[p])) + " ";
  words.push_back(precisions);
  for (const bench::Product& p : task.timed) {
    words.push_back(fmt::format("{}x{}x{}", p.m, p.n, p.k));
    words.push_back(fmt::format("{} {}", p.alpha, p.beta));
  }
  return words;
}

Task task_of(const std::vector<std::string>& words) {
  require(words.size() >= 4 && words.size() % 2 == 0, "these are not the words of a verification");
  Task task;
  Options options;
  const int device = std::stoi(words[1]);
  options.gemm = words[0];
  options.device = {device < 0 ? Device::cpu : Device::cuda, std::max(device, 0)};
  task.choice = choose(options);
  task.threads = std::stoi(words[2]);
  std::istringstream precisions(words[3]);
  for (int p; precisions >> p;) task.precisions.push_back(Precision(p));
  for (std::size_t w = 4; w < words.size(); w += 2) {
    auto product = bench::parse_product(words[w]);
    require(product.has_value(), "this is no product");
    std::istringstream(words[w + 1]) >> product->alpha >> product->beta;
    task.timed.push_back(*product);
  }
  return task;
}

void add(Json& line, const Fault& fault) { line["fault"] = serialized(fault), line["text"] = fault.text; }
Fault fault_in(const Json& line) {
  Fault fault = parsed<Fault>(line["fault"]);
  fault.say(line["text"].get_ref<const std::string&>());
  return fault;
}

void tell_verdict(const Verdict& v) {
  tries = 0;
  Writer errors;
  for (const double error : v.errors) errors(error);
  Json line = {{"cases", v.cases}, {"left_out", v.left_out}, {"errors", errors.all}, {"grade", serialized(v.grade)}};
  if (v.fault) add(line, *v.fault);
  tell(line);
}

/// What a worker has reported, added to `verdicts`, one for each precision that is done with.
class Validations {
 public:
  Validations(const Task& task, std::vector<Verdict>& verdicts) : task_(task), verdicts_(verdicts) {}

  void hold(Child& child, double patience) {
    const Ending end = Supervisor(patience, patience).listen(child, [&](const Json& m) { return hear(m); });
    if (end.kind == Ending::interrupted) return;
    if (end.kind == Ending::no_answer) return give_up(Fault::no_answer, fmt::format("{:.3g} s", end.waited), end.how);
    if (verdicts_.size() < task_.precisions.size() || end.signal != 0) give_up(Fault::crashed, end.how, end.how);
  }

 private:
  /// Whether more lines are wanted.
  bool hear(const Json& m) {
    if (m.contains("unable")) throw MachineError(m["unable"].get<std::string>());
    if (m.contains("run")) called_ = fault_in(m), ++calls_;
    if (m.contains("crashed") && called_)
      called_->called = parsed<KernelCall>(m["crashed"]), called_->misaligned = m["misaligned"] == 1;
    if (!m.contains("cases")) return true;
    Verdict v{m["cases"], m["left_out"], std::nullopt, {}, parsed<bench::Grade>(m["grade"])};
    Reader errors{m["errors"]};
    v.errors.resize(m["errors"].size());
    for (double& error : v.errors) errors(error);
    if (m.contains("fault")) v.fault = fault_in(m);
    verdicts_.push_back(std::move(v));
    calls_ = 0;
    return !verdicts_.back().fault;
  }
  void give_up(Fault::Kind kind, const std::string& what, const std::string& how) {
    if (!called_) throw MachineError("the process that verifies has not begun: " + how);
    called_->kind = kind;
    called_->say(what);
    // The end of a process that seemed to be right: it had spoiled its memory.
    if (verdicts_.size() == task_.precisions.size()) verdicts_.pop_back();
    verdicts_.push_back({calls_, 0, called_, {}});
  }

  const Task& task_;
  std::vector<Verdict>& verdicts_;
  std::optional<Fault> called_;
  int calls_ = 0;
};

}  // namespace

std::vector<Verdict> verify(const Task& task, double patience) {
  std::vector<Verdict> verdicts;
  while (verdicts.size() <
         task.precisions.size()) {  // after a fault in another process: the memory of this one may be spoilt
    std::vector<std::string> words = command_of("verify");
    const std::vector<std::string> more = words_of(task, verdicts.size());
    words.insert(words.end(), more.begin(), more.end());
    Child child(words);
    Validations(task, verdicts).hold(child, patience);
  }
  return verdicts;
}

int verify_worker(const std::vector<std::string>& words) {
  std::set_terminate(ended_by_exception);
  KernelCalls::here().keep();
  tell_of_crashes();
  std::optional<Fault> last;
  const auto before = [&](const Fault& where) {
    last = where;
    Json line = {{"run", ""}, {"multiplications", where.at.multiplications()}};
    add(line, where);
    tell(line);
    tries = 1;
  };
  const auto fails = [&](Fault::Kind kind, const std::string& why) {
    tries = 0;
    if (!last) return tell({{"unable", why}});
    last->kind = kind;
    last->say(why);
    tell_verdict({0, 0, last, {}});
  };
  try {
    bench::verify_here(
        task_of(words), before, [] { plugin::require_intact(); },
        [](const Verdict& v) {
          tell_verdict(v);
          return !v.fault;
        });
  } catch (const OutOfMemory& e) {
    tell({{"unable", e.what()}});
  } catch (const std::bad_alloc&) {
    tell_parent(unable);
  } catch (const DeviceError& e) {
    fails(Fault::breach, "failed on the device: " + e.reason);
  } catch (const std::exception& e) {  // a kernel can harm the device such that later calls fail
    fails(Fault::threw, e.what());
  }
  return 0;
}

}  // namespace lasolve::worker
