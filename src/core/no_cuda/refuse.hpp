// The answer to whoever wants CUDA from a build without it.
#pragma once

#include "lasolve/matrix.hpp"

namespace lasolve {

inline constexpr const char* no_cuda_in_build = "this build has no CUDA";
[[noreturn]] inline void refuse() { throw MachineError(no_cuda_in_build); }

}  // namespace lasolve
