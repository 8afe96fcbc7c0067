// A process that tells what it does, and may end in any way.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace lasolve::bench {

/// The parent's side. The process does not outlive this object.
class Child {
 public:
  /// Starts the program words[0] with these words. What it prints goes to standard error. Throws MachineError.
  explicit Child(const std::vector<std::string>& words);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum Heard { message, end, nothing };
  /// The next `bytes` that it tells; nothing: it has not told as many in so many seconds.
  Heard listen(void* to, std::size_t bytes, double seconds);

  struct End {
    bool by_signal;
    std::string how;  ///< such as "crashed (SIGSEGV: Segmentation fault)"
  };
  /// Waits for it.
  End end_of_it();

 private:
  int wait();

  pid_t process_ = -1;
  int from_ = -1;
};

/// The child's side: signals end it, as its parent does, and nothing else is done about them.
void be_a_child();
/// What the parent listens to, at once or not at all where that is at most PIPE_BUF. Ends the process if nobody listens.
void tell_parent(const void* from, std::size_t bytes);

}  // namespace lasolve::bench
