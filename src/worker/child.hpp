// A process that tells what it does in lines of text, and may end in any way.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace lasolve::worker {

/// The parent's side. The process does not outlive this object, nor does what it has started.
class Child {
 public:
  /// What it has of this process. separate: no standard input, and what it prints goes to standard error; signals of the terminal do not
  /// reach it. shared: standard input and output, and the terminal's signals.
  enum Streams { separate, shared };
  /// Starts the program words[0] with these words. Throws MachineError.
  explicit Child(const std::vector<std::string>& words, Streams = separate);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum Received { line, end, nothing };
  /// The next line that it writes; nothing: it wrote none in so many seconds. Time in which this process was stopped does not count.
  Received listen(std::string& to, double seconds);

  struct End {
    int signal;       ///< 0: it ended by itself
    std::string how;  ///< such as "crashed (SIGSEGV: Segmentation fault)"
  };
  /// Waits for it.
  End end_of_it();

 private:
  bool has_ended() const;
  int wait();

  Streams streams_;
  pid_t process_ = -1;
  int from_ = -1;
  std::string unread_;
};

/// How many processes children have left behind so far, which were ended with them.
int orphans_ended();
/// Ends the children that there are. It may be called by the handler of a signal.
void end_children();

/// The child's side: signals end it, as its parent does, and nothing else is done about them. One that shares the terminal keeps its
/// handlers.
void be_a_child(Child::Streams = Child::separate);
/// Tells lines, each with its end: at once or not at all where they are at most PIPE_BUF. Ends the process if nobody listens, and one
/// that a kernel has forked. It may be called by the handler of a signal.
void tell_parent(std::string_view lines);

}  // namespace lasolve::worker
