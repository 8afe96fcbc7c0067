// What a worker, a process that runs kernels of others, tells the process that started it: a line of JSON at a time.
//
//   {"run": NAME, "multiplications": M}  a run begins; what there is to know of it may stand beside
//   {"run": null}                        it has ended: what follows is work of the tool
//   {"spoilt": NAME, "why": TEXT}        NAME has done what no kernel may, and the process is not to be believed
//   {"progress": SHARE}                  so much of all is done
//   {"done": CODE}                       nothing follows
//
// Other lines are those of one kind of worker.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.hpp"
#include "worker/child.hpp"

namespace lasolve::worker {

/// How a worker of such a kind is started: it is this program, and loads the plugin kernels that this process has loaded.
std::vector<std::string> command_of(const std::string& kind);

/// What became of a worker.
struct Ending {
  enum Kind {
    interrupted,  ///< OnLine wanted no more
    ended,        ///< its process; it may have crashed
    no_answer,    ///< in a run, or before the first, for `waited` seconds
    spoilt        ///< by `running`
  } kind = interrupted;
  std::string how = {};       ///< of which the run is the subject, such as "crashed (SIGSEGV: Segmentation fault)"
  std::string running = {};   ///< the run that began last, also after its end: what it did may show later. Empty: none
  bool in_run = false;        ///< and that has not ended
  int signal = 0;             ///< that has ended its process
  double waited = 0;          ///< seconds
  std::optional<int> done{};  ///< the code that it was done with
};

/// The process that started a worker.
class Supervisor {
 public:
  static constexpr double forever = 1e9;
  /// `patience`: seconds for a run, and 20 ns more for each of its multiplications, which the slowest kernels take on the slowest
  /// machines. `until_first`: seconds for what comes before the first.
  explicit Supervisor(double patience, double until_first = forever) : patience_(patience), seconds_(until_first) {}
  /// Gets each line but the last; false: that is enough.
  using OnLine = std::function<bool(const Json&)>;
  /// Listens until the worker has ended, or is lost.
  Ending listen(Child&, const OnLine& = {});

 private:
  double patience_, seconds_;
};

// The worker's side. Runs and progress are reported beside what is timed: that takes one write, and for progress no memory.

/// Tells a line.
void tell(const Json&);
void tell_run(const std::string& name, double multiplications);
void tell_end_of_run();
void tell_spoilt(const std::string& name, const std::string& why);
void tell_progress(double share);
void tell_done(int code);

}  // namespace lasolve::worker
