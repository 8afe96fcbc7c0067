# Loops that are compiled for several sets of instructions, of which a process takes the best that its processor has: the sources in
# folders named `levels`. Where the build is for one machine, or for another architecture than x86-64, they are compiled once.
#
# A template or an inline function of a header, compiled for AVX-512, must not be the one that the linker takes for all of the library.
# So these sources include nothing but declarations and vectors.hpp, and all in them but their tables has internal linkage;
# tests/levels.sh looks at the objects.
include(CheckCXXCompilerFlag)
set(LASOLVE_LEVELS one_level)
set(several_levels OFF)
if((LASOLVE_EACH_LEVEL OR NOT LASOLVE_NATIVE) AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  check_cxx_compiler_flag(-march=x86-64-v4 LASOLVE_HAS_X86_LEVELS)
  if(LASOLVE_HAS_X86_LEVELS)
    set(LASOLVE_LEVELS x86_64 x86_64_v3 x86_64_v4)
    set(several_levels ON)
    if(LASOLVE_NATIVE)  # for tests, which are compiled as those of a build for this machine
      list(APPEND LASOLVE_LEVELS one_level)
    else()  # also in the drop-in and in tests, which compile insides of the library again
      target_compile_definitions(lasolve_options INTERFACE LASOLVE_X86_LEVELS)
    endif()
  endif()
endif()

file(GLOB level_sources CONFIGURE_DEPENDS gemm/cpu/levels/*.cpp solvers/devices/cpu/levels/*.cpp)
set(LASOLVE_LEVEL_SOURCES "")
foreach(source IN LISTS level_sources)
  get_filename_component(name ${source} NAME_WE)
  foreach(level IN LISTS LASOLVE_LEVELS)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/levels/${name}.${level}.cpp)
    file(CONFIGURE OUTPUT ${copy} CONTENT "#define LASOLVE_LEVEL @level@\n#include \"@source@\"\n" @ONLY)
    set(options "")
    if(NOT level STREQUAL one_level)
      string(REPLACE x86_64 x86-64 march ${level})
      string(REPLACE _ - march ${march})
      set(options -march=${march} -mtune=haswell)  # by default packed takes a fifth longer on an EPYC
    endif()
    # Elimination of small integers stays exact, so that a singular matrix is found to be one; and what is rounded off a sum is exact.
    if(name MATCHES "^(elimination|extra)$")
      list(APPEND options -ffp-contract=off)
    endif()
    # In a build for this machine that level is for tests and the drop-in. The library takes one of the others, which are looked at.
    if(several_levels AND LASOLVE_SANITIZE AND level STREQUAL one_level)
      list(APPEND options -fno-sanitize=all)
    endif()
    set_source_files_properties(${copy} PROPERTIES COMPILE_OPTIONS "${options}")
    list(APPEND LASOLVE_LEVEL_SOURCES ${copy})
  endforeach()
endforeach()
