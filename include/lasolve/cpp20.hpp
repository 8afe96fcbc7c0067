// What a compiler must be told. Before anything that it does not understand.
#if __cplusplus < 201709L
#error \
    "lasolve needs C++20: compile with -std=c++20, or with target_compile_features(... cxx_std_20); C and C++17 have lasolve/lasolve.h"
#endif
