// How this build was compiled.
#pragma once

namespace lasolve {

/// The flags of the C++ compiler that bear on speed, such as "Release: -O3 -DNDEBUG -march=native".
const char* build_flags();
/// Of C++, such as "GNU 13.3.0".
const char* compiler();
/// Its version, such as "13.0.48"; empty: the build has no CUDA.
const char* cuda_toolkit();

}  // namespace lasolve
