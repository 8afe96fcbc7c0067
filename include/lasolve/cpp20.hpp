// What a compiler must be told, before anything that it does not understand. Each header includes this first, and has nothing
// for an older standard, so that this is all that is said. And the namespace of all that the headers declare.
#pragma once

#if __cplusplus < 201709L
#error \
    "lasolve needs C++20: compile with -std=c++20, or with target_compile_features(... cxx_std_20); C and C++17 have lasolve/lasolve.h"
#else
#include <version>
#endif

// Of the version, and of the C++ library, whose objects are handed over: what was compiled with another has no such names, and so is not
// linked.
#if defined _LIBCPP_VERSION
#define LASOLVE_ABI v0_2_libcxx
#elif defined _GLIBCXX_DEBUG
#define LASOLVE_ABI v0_2_glibcxx_debug
#elif defined _GLIBCXX_USE_CXX11_ABI && !_GLIBCXX_USE_CXX11_ABI
#define LASOLVE_ABI v0_2_old_strings
#else
#define LASOLVE_ABI v0_2
#endif
