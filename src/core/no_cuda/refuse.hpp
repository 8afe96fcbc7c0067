// The answer to whoever wants CUDA from a build without it.
#pragma once

#include "lasolve/matrix.hpp"

namespace lasolve {

inline constexpr const char* why_no_cuda = "this build has no CUDA";
[[noreturn]] inline void refuse() { throw MachineError(why_no_cuda); }

}  // namespace lasolve
