// Commands with plugin kernels, which may crash or stop their process: the command runs in a child, and this process watches it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lasolve::cli {

/// What is watched, and how.
struct Watched {
  std::vector<std::string> words = {};    ///< of the command line, behind the name of the program
  std::vector<std::string> kernels = {};  ///< plugin kernels that take part
  const char* run = "solve";              ///< what one run is
  int patience = 60;                      ///< seconds for a run, and 20 ns more for each of its multiplications
  bool comes_again = true;                ///< what is read can be read a second time
};

/// Runs the command line in a process of its own, and returns its exit code. Where the process does not survive a run of an own
/// kernel, says so and runs it again without that kernel. Where a kernel of the box did not come back, any of the own ones may have
/// spoilt the process: none of them takes part again.
int watch(const Watched&);

/// The child's side: is watched from now on, loads what the parent has loaded, and returns the command line behind that.
std::vector<std::string> be_watched(const std::vector<std::string>& words);
/// The command is done: its exit code, and what it has written is whole.
void tell_done(int code);

/// Whether this process is watched; in one that is not, what is told is told to nobody.
bool is_watched();
/// The plugin kernels that were lost before in the same command, each with how; see watch().
const std::map<std::string, std::string>& lost_kernels();

/// A run of a backend begins, and has ended.
void tell_begin(const std::string& backend, double multiplications);
void tell_end();
/// A backend is no more to be believed, nor is this process, which ends here if it is watched. Else returns.
void tell_spoilt(const std::string& backend, const std::string& how);

/// While a kernel runs that may print: what goes to standard output goes to standard error, if this process is watched.
class Aside {
 public:
  Aside();
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  int output_ = -1;
};

}  // namespace lasolve::cli
