// The sets of instructions that some loops are compiled for, and which of them this process uses.
//
// Sources in folders named `levels` are compiled once for each level, in a namespace of its name, by cmake/LasolveLevels.cmake. A build
// for one machine, or for another architecture than x86-64, has one level.
#pragma once

#include <span>

namespace lasolve {

/// The levels of the x86-64 ABI that this build has, from the lowest, as compilers name them.
std::span<const char* const> levels();

/// How many of them this processor can run.
int levels_that_run();

/// The highest of these, or LASOLVE_CPU=LEVEL where that is lower: an index. Found out once. Throws std::invalid_argument where
/// LASOLVE_CPU names none.
int level_here();

#ifdef LASOLVE_X86_LEVELS
#define LASOLVE_DECLARE_LEVELS(Table, name) \
  namespace x86_64 {                        \
  extern const Table name;                  \
  }                                         \
  namespace x86_64_v3 {                     \
  extern const Table name;                  \
  }                                         \
  namespace x86_64_v4 {                     \
  extern const Table name;                  \
  }
#define LASOLVE_AT_LEVEL_HERE(name)                                        \
  [] {                                                                     \
    static const auto* const here = level_here() == 2   ? &x86_64_v4::name \
                                    : level_here() == 1 ? &x86_64_v3::name \
                                                        : &x86_64::name;   \
    return here;                                                           \
  }()
#else
#define LASOLVE_DECLARE_LEVELS(Table, name) \
  namespace one_level {                     \
  extern const Table name;                  \
  }
#define LASOLVE_AT_LEVEL_HERE(name) (&one_level::name)
#endif

}  // namespace lasolve
