// What a kernel of somebody's own did that no kernel may do.
#pragma once

#include <stdexcept>
#include <string>

namespace lasolve {

/// what(): such as "left the rounding mode changed", of which the kernel is the subject.
struct KernelFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace lasolve
