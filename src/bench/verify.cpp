#include "bench/verify.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <typeinfo>

#include "bench/child.hpp"
#include "core/current_device.hpp"
#include "core/device_error.hpp"

namespace lasolve::bench {

namespace {

/// What the child says: the same program reads it. A message is written at once or not at all.
struct Message {
  enum Kind : int { calls, crashes, faulty, timed, right, unable } kind = calls;
  Fault fault;                  // calls, crashes: what to say should this be the last message; unable: only its text
  int cases = 0, left_out = 0;  // faulty, right
  double error = 0;             // timed
  Grade grade;                  // right
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= PIPE_BUF);

void send(const Message& message) { tell_parent(&message, sizeof message); }

void unable_for_memory() {
  Message m;
  m.kind = Message::unable;
  m.fault.say("not enough host memory");
  send(m);
}

Message last_told;

/// Which of the calls that are made at the same time it was that crashed; then the signal comes again, and ends the process.
extern "C" void crashed(int signal, siginfo_t* about, void*) {
  Message m = last_told;
  if (m.kind != Message::calls) return;
  m.kind = Message::crashes;
  m.fault.called = KernelCalls::of_this_thread();
#ifdef SI_KERNEL  // of a signal that has no address: the processor has refused it before it was looked up
  m.fault.misaligned = signal == SIGSEGV && about->si_code == SI_KERNEL;
#endif
  m.fault.misaligned |= signal == SIGBUS && about->si_code == BUS_ADRALN;
  send(m);
}
void tell_of_crashes() {
  struct sigaction action {};
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO | int(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

/// An exception that nobody can catch: of memory, or the kernel's.
[[noreturn]] void terminated() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type || *type != typeid(std::bad_alloc)) std::abort();
  unable_for_memory();
  _exit(0);
}

std::vector<std::string> words_of(const Task& task, std::size_t first_precision) {
  std::vector<std::string> words = {std::visit([](const auto* b) { return std::string(b->name); }, task.choice.backend),
                                    task.choice.backend.index() == 0 ? "-1" : std::to_string(task.choice.cuda_device),
                                    std::to_string(task.threads)};
  std::string precisions;
  for (std::size_t p = first_precision; p < task.precisions.size(); ++p)
    precisions += std::to_string(int(task.precisions[p])) + " ";
  words.push_back(precisions);
  for (const Product& p : task.timed) {
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
    auto product = parse_product(words[w]);
    require(product.has_value(), "this is no product");
    std::istringstream(words[w + 1]) >> product->alpha >> product->beta;
    task.timed.push_back(*product);
  }
  return task;
}

/// f(queue, host's queue, record) at the place of a choice.
template <class F>
void at_place(const Task& task, F f) {
  Queue<Cpu> host(task.threads);
  if (task.choice.backend.index() == 0) return f(host, host, *std::get<const GemmBackend<Cpu>*>(task.choice.backend));
  Queue<Cuda> q(task.choice.cuda_device);
  const CurrentDevice current(q);
  f(q, host, *std::get<const GemmBackend<Cuda>*>(task.choice.backend));
}

template <class Space>
Verdict verdict_on(Queue<Space>& q, Queue<Cpu>& host, const GemmBackend<Space>& backend, Precision precision,
                   const std::vector<Product>& timed, const BeforeCall& before, const AfterCall& after) {
  Verdict verdict;
  for_precision(precision, [&](auto P) {
    const auto& kernel = backend.template in<P>();
    verdict = conformance<P, Space>(q, host, kernel, timed, before, after);
    if (verdict.fault || !kernel.beside) return;
    const Verdict beside = conformance<P, Space>(q, host, backend.template in<P>(true), timed, before, after);
    if (beside.fault) verdict = beside;
    if (beside.grade.worst > verdict.grade.worst) verdict.grade = beside.grade;
  });
  return verdict;
}

/// What a child has said, added to `verdicts`, one for each precision that is done with.
class Conversation {
 public:
  Conversation(const Task& task, std::vector<Verdict>& verdicts, double patience)
      : task_(task), verdicts_(verdicts), patience_(patience) {}

  void hold(Child& child) {
    for (Message m;;) {
      switch (child.listen(&m, sizeof m, patience_ + allowance())) {
        case Child::message:
          if (!hear(m)) return;
          break;
        case Child::end: {
          const auto [signal, how] = child.end_of_it();
          if (verdicts_.size() == task_.precisions.size() && signal == 0) return;
          return give_up(Fault::crashed, how);
        }
        case Child::nothing:
          return give_up(Fault::no_answer, fmt::format("{:.3g} s", patience_ + allowance()));
      }
    }
  }

 private:
  /// Seconds for the slowest kernels on the slowest machines.
  double allowance() const { return called_ ? 2e-8 * called_->at.multiplications() : 0; }

  /// Whether there is more to hear.
  bool hear(const Message& m) {
    switch (m.kind) {
      case Message::calls:
        called_ = m.fault;
        ++calls_;
        return true;
      case Message::crashes:
        called_ = m.fault;
        return true;
      case Message::timed:
        errors_.push_back(m.error);
        return true;
      case Message::right:
      case Message::faulty:
        verdicts_.push_back({m.cases, m.left_out, std::nullopt, std::exchange(errors_, {}), m.grade});
        if (m.kind == Message::faulty) verdicts_.back().fault = m.fault;
        calls_ = 0;
        return m.kind == Message::right;
      case Message::unable:
        throw MachineError(m.fault.text);
    }
    return false;
  }
  void give_up(Fault::Kind kind, const std::string& how) {
    if (!called_) throw MachineError("the process that verifies has not begun: " + how);
    called_->kind = kind;
    called_->say(how);
    // The end of a process that seemed to be right: it had spoiled its memory.
    if (verdicts_.size() == task_.precisions.size()) verdicts_.pop_back();
    verdicts_.push_back({calls_, 0, called_, {}});
  }

  const Task& task_;
  std::vector<Verdict>& verdicts_;
  double patience_;
  std::optional<Fault> called_;
  std::vector<double> errors_;
  int calls_ = 0;
};

}  // namespace

std::vector<Verdict> verify_here(const Task& task) {
  std::vector<Verdict> verdicts;
  at_place(task, [&](auto& q, auto& host, const auto& backend) {
    for (const Precision p : task.precisions) verdicts.push_back(verdict_on(q, host, backend, p, task.timed, {}, {}));
  });
  return verdicts;
}

std::vector<Verdict> verify_apart(const Task& task, const std::vector<std::string>& command, double patience) {
  std::vector<Verdict> verdicts;
  while (verdicts.size() <
         task.precisions.size()) {  // after a fault in another process: the memory of this one may be spoiled
    std::vector<std::string> words = command;
    const auto more = words_of(task, verdicts.size());
    words.insert(words.end(), more.begin(), more.end());
    Child child(words);
    Conversation(task, verdicts, patience).hold(child);
  }
  return verdicts;
}

int serve(const std::vector<std::string>& words, const AfterCall& after) {
  be_a_child();
  std::set_terminate(terminated);
  KernelCalls::here().keep();
  Message& m = last_told;
  tell_of_crashes();
  bool called = false;
  const auto tell = [&](Message::Kind kind) {
    m.kind = kind;
    send(m);
  };
  try {
    const Task task = task_of(words);
    at_place(task, [&](auto& q, auto& host, const auto& backend) {
      for (const Precision p : task.precisions) {
        const auto before = [&](const Fault& where) {
          m.fault = where;
          called = true;
          tell(Message::calls);
        };
        const Verdict v = verdict_on(q, host, backend, p, task.timed, before, after);
        m.cases = v.cases, m.left_out = v.left_out, m.grade = v.grade;
        for (const double error : v.errors) {
          m.error = error;
          tell(Message::timed);
        }
        if (v.fault) {
          m.fault = *v.fault;
          return tell(Message::faulty);
        }
        tell(Message::right);
      }
    });
  } catch (const OutOfMemory& e) {
    m.fault.say(e.what());
    tell(Message::unable);
  } catch (const std::bad_alloc&) {
    unable_for_memory();
  } catch (const DeviceError& e) {
    m.fault.say("failed on the device: " + e.reason);
    m.fault.kind = Fault::breach;
    tell(called ? Message::faulty : Message::unable);
  } catch (const std::exception& e) {  // a kernel can harm the device such that others than it are told
    m.fault.say(e.what());
    m.fault.kind = Fault::threw;
    tell(called ? Message::faulty : Message::unable);
  }
  return 0;
}

}  // namespace lasolve::bench
