// What a compiler must be told, before anything that it does not understand. Each header includes this first, and has nothing
// for an older standard, so that this is all that is said.
#pragma once

#if __cplusplus < 201709L
#error \
    "lasolve needs C++20: compile with -std=c++20, or with target_compile_features(... cxx_std_20); C and C++17 have lasolve/lasolve.h"
#endif
