// What other programs do meanwhile.
#pragma once

#include "core/stopwatch.hpp"

namespace lasolve::bench {

/// Counts, from its construction on, how many processors other programs keep busy: what Linux counts as busy (/proc/stat) less what
/// this process has used.
class Others {
 public:
  /// On average; 0 where it is not known, or hardly a second has passed, for which the counts are too coarse.
  double processors() const;

 private:
  /// In seconds; negative where it is not known.
  static double busy();
  static double own();
  Stopwatch watch_;
  double busy_ = busy(), own_ = own();
};

}  // namespace lasolve::bench
