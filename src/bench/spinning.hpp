// Threads that compute while nobody has called them.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace lasolve::bench {

/// The threads that code of others has made in this process, and how many of them compute between its runs. The threads of the pool are
/// nobody else's.
class SpinningThreads {
 public:
  /// Around a run of that code: threads that are there afterwards, and were not before, are its own.
  void begin();
  void end();
  /// So are those that are there now, as where its library made them as it was loaded.
  void take_all();

  /// Looks at them while this thread sleeps. Takes some milliseconds, of which the first let threads fall asleep that spin for a while
  /// after their work; none where there are no threads.
  void look();
  /// How many of them keep a processor busy, or would: the median of all looks. On a busy machine a thread may want a processor, and
  /// not have it.
  double processors() const;

 private:
  std::set<pid_t> before_, made_;
  std::vector<double> looks_;
};

}  // namespace lasolve::bench
