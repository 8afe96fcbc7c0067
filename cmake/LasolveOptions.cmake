# How everything of this project is compiled: one interface target, lasolve_options.
option(LASOLVE_NATIVE "Compile all of it for this machine alone; OFF: it runs elsewhere, and its inner loops take the best of what they find" OFF)
option(LASOLVE_EACH_LEVEL "Compile inner loops for several sets of instructions, also where the rest is for this machine alone" OFF)
option(LASOLVE_WERROR "Treat warnings as errors" OFF)
option(LASOLVE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(LASOLVE_TEST_HOOKS "For tests: LASOLVE_PRETEND=a100, rtx4090, rtx5090 or mig-1g makes CUDA devices keep to what these have, and ,a100 the second one; what is made on devices is counted, and allocations can fail" OFF)
# A project that adds this one has the library alone, unless it asks for more.
option(LASOLVE_TOOL "Build the tool, and what it, the tests and the programs in bench/ are made of" ${PROJECT_IS_TOP_LEVEL})
option(LASOLVE_LAPACK "Build the drop-in for LAPACK, beside the tool" ${PROJECT_IS_TOP_LEVEL})
option(LASOLVE_BENCH "Build the programs in bench/" ON)
option(LASOLVE_INSTALL "Install the library, and the tool where it is built" ${PROJECT_IS_TOP_LEVEL})
option(LASOLVE_FUZZ "Build the targets in tests/fuzz, for which the compiler has to be clang" OFF)
option(LASOLVE_RACES "ThreadSanitizer, and the program in tests/races" OFF)
option(LASOLVE_COVERAGE "The library counts which of its lines run, for which the compiler has to be clang; see scripts/coverage" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# -Wno-…: gcc 12 and 13 warn inside their own AVX-512 headers and std::string.
add_library(lasolve_options INTERFACE)
target_compile_options(lasolve_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wno-maybe-uninitialized -Wno-restrict -fno-math-errno -fopenmp-simd>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${LASOLVE_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${LASOLVE_NATIVE}>>:-march=native>)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)  # what build_flags() says
set(LASOLVE_FLAGS "${CMAKE_BUILD_TYPE}: ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
if(LASOLVE_NATIVE)
  string(APPEND LASOLVE_FLAGS " -march=native")
endif()
string(REGEX REPLACE " +" " " LASOLVE_FLAGS "${LASOLVE_FLAGS}")
# On Intel's processors from Skylake to Comet Lake a jump across 32 bytes makes a loop up to a sixth slower (erratum SKX102):
# without this, which ones are hit changes with every edit.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-Wa,-mbranches-within-32B-boundaries LASOLVE_CAN_ALIGN_JUMPS)
if(LASOLVE_CAN_ALIGN_JUMPS)
  target_compile_options(lasolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wa,-mbranches-within-32B-boundaries>)
endif()
if(LASOLVE_SANITIZE)  # under which gcc 12 warns inside its AVX-512 headers of another kind, too
  set(looked_at $<NOT:$<BOOL:$<TARGET_PROPERTY:LASOLVE_NOT_SANITIZED>>>)
  target_compile_options(lasolve_options INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${looked_at}>:-fsanitize=address,undefined;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer;-Wno-uninitialized>")
  target_link_options(lasolve_options INTERFACE -fsanitize=address,undefined)
endif()
if(LASOLVE_RACES)
  target_compile_options(lasolve_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread;-Wno-uninitialized>")
  target_link_options(lasolve_options INTERFACE -fsanitize=thread)
endif()
if(LASOLVE_FUZZ)
  target_compile_options(lasolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
