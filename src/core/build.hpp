// How this build was compiled.
#pragma once

namespace lasolve {

/// What the C++ compiler was told that bears on speed, such as "Release: -O3 -DNDEBUG -march=native".
const char* build_flags();

}  // namespace lasolve
