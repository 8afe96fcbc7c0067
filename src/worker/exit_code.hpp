// The codes that processes of the tool end with.
#pragma once

namespace lasolve::worker {

enum ExitCode {
  done = 0,
  usage = 2,
  bad_input = 3,
  no_solution = 4,
  not_accurate = 5,
  machine = 6,
  slower = 7,
  cannot_tell = 8,
  caught_nothing = 9,
  internal = 70
};

}  // namespace lasolve::worker
