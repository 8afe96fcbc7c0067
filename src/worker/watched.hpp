// Commands with plugin kernels, which may crash or stop their process: a worker runs the command, and this process watches it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lasolve::worker {

/// What is watched, and how.
struct Watched {
  std::vector<std::string> words = {};     ///< of the command line, behind the name of the program
  std::vector<std::string> backends = {};  ///< that take part; those of plugin kernels are watched
  const char* run = "solve";               ///< what one run is
  int patience = 60;                       ///< seconds for a run, and 20 ns more for each of its multiplications
  bool comes_again = true;                 ///< what is read can be read a second time
};

/// Whether this process has to watch another one, which runs these backends.
bool has_to_watch(const std::vector<std::string>& backends);

/// Runs the command line in a worker, and returns its exit code. Where the process does not survive a run of a plugin kernel, says so on standard error and runs it again without that kernel. Where a
/// built-in kernel did not come back, any plugin kernel may have spoilt the process: none of them takes part again.
int watch(const Watched&);

/// The worker's side: is watched from now on, and returns the command line behind the words of the parent.
std::vector<std::string> be_watched(const std::vector<std::string>& words);

/// Whether this process is watched; in one that is not, begin_run() and the like do nothing.
bool is_watched();
/// The plugin kernels that were lost before in the same command, each with how; see watch().
const std::map<std::string, std::string>& lost_kernels();

/// A run of a backend begins, and has ended.
void begin_run(const std::string& backend, double multiplications);
void end_run();
/// A backend is no more to be believed, nor is this process, which ends here if it is watched. Else returns.
void give_up(const std::string& backend, const std::string& how);
/// While a kernel runs that may print: what goes to standard output goes to standard error, if this process is watched.
class RedirectedOutput {
 public:
  RedirectedOutput();
  ~RedirectedOutput();
  RedirectedOutput(const RedirectedOutput&) = delete;
  RedirectedOutput& operator=(const RedirectedOutput&) = delete;

 private:
  int output_ = -1;
};

}  // namespace lasolve::worker
