# What makes a build shorter, and changes nothing that is timed. Headers of others, which take a second a file, are parsed once
# for the library and once for the tool; those of this project are not among them, so that a change to one recompiles its users only.
# A header that a file forgets to include is found by scripts/tidy, which parses each file by itself.
function(headers_are_parsed_once target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <functional> <limits> <memory> <mutex> <optional> <set> <span>
    <string> <string_view> <thread> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> ${ARGN})
endfunction()

# A file with options of its own cannot use what was parsed with those of its target.
function(parse_alone_where_options_differ target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "^\\$<")
      get_source_file_property(options ${source} COMPILE_OPTIONS)
      if(options)
        set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endif()
  endforeach()
endfunction()

headers_are_parsed_once(lasolve_objects)
parse_alone_where_options_differ(lasolve_objects)

# What validation computes, and what brings a kernel up to the contract, is as fast as the library, and compiled as it is.
foreach(target lasolve_bench lasolve_plugin lasolve_engines)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:lasolve_objects,COMPILE_DEFINITIONS>)
  target_precompile_headers(${target} REUSE_FROM lasolve_objects)
endforeach()

# The oracle's sums: as fast under sanitizers, and not looked at.
if(LASOLVE_SANITIZE)
  set_source_files_properties(src/bench/sums.cpp PROPERTIES COMPILE_OPTIONS "-O3;-fno-sanitize=all" SKIP_PRECOMPILE_HEADERS ON)
  # Templates of Eigen, which looks at its sizes and indices itself in a debug build: half as long without UndefinedBehaviorSanitizer.
  set_source_files_properties(src/core/cpu/by_eigen.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined SKIP_PRECOMPILE_HEADERS ON)
endif()

# What prints, parses and draws is compiled more often than it takes time.
function(compile_as_tool target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo>>:-O1>)
  target_compile_options(${target} PRIVATE $<$<BOOL:${LASOLVE_SANITIZE}>:-Og>)
  # Headers of Boost, which only the commands include, are parsed for all, in the same way.
  target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:Boost::program_options,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:Boost::program_options,INTERFACE_COMPILE_DEFINITIONS>)
  if(NOT target STREQUAL lasolve_compare)
    target_precompile_headers(${target} REUSE_FROM lasolve_compare)
  endif()
endfunction()
foreach(target lasolve_compare lasolve_baseline_solvers lasolve_tuned lasolve_worker lasolve_cli)
  compile_as_tool(${target})
endforeach()
headers_are_parsed_once(lasolve_compare <filesystem> <fstream> <map> <nlohmann/json.hpp> <boost/program_options.hpp>)

# Files of a target are compiled some at a time, which instantiate the templates of others once: names within a file are those of no
# other one of its target. What is timed, or takes long by itself, is compiled alone.
foreach(target lasolve_objects lasolve_bench lasolve_plugin lasolve_engines lasolve_compare lasolve_baseline_solvers lasolve_tuned lasolve_worker lasolve_cli)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LASOLVE_TOGETHER} UNITY_BUILD_BATCH_SIZE ${LASOLVE_BATCH})
endforeach()
set_source_files_properties(${LASOLVE_KERNEL_SOURCES} src/core/cpu/by_eigen.cpp solvers/devices/cpu/engine.cpp solvers/devices/cpu/cards.cpp src/plugin/adapter.cpp src/bench/conformance.cpp src/bench/gemm.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
