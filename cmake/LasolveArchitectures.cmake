# Which CUDA architectures are compiled for, and, for who asks the library, the list of them without words as `native`.
set(LASOLVE_CUDA_ARCHITECTURES "" CACHE STRING
    "CUDA architectures to compile for; empty: 80, 90a, 100 and 120 where the toolkit knows them, and PTX of 9.0")

# To be called between check_language(CUDA) and enable_language(CUDA). Machine code for 8.0 runs on all of 8.x, for 10.0 and
# 12.0 likewise; 90a is Hopper with its own instructions. What is newer compiles the PTX.
macro(lasolve_choose_architectures)
  set(CMAKE_CUDA_ARCHITECTURES ${LASOLVE_CUDA_ARCHITECTURES})
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
    foreach(one 80 90a 100 120)
      string(REGEX MATCH "[0-9]+" number ${one})
      if("${known}" MATCHES "sm_${number}[^0-9a-z]")
        list(APPEND CMAKE_CUDA_ARCHITECTURES ${one}-real)
      endif()
    endforeach()
    list(APPEND CMAKE_CUDA_ARCHITECTURES 90-virtual)
  endif()
endmacro()

# After enable_language(CUDA), which finds out what the words mean.
macro(lasolve_name_architectures)
  set(LASOLVE_BUILT_FOR "")
  foreach(one IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(one MATCHES "^(native|all|all-major)$")
      string(REPLACE - _ word ${one})
      string(TOUPPER ${word} word)
      list(APPEND LASOLVE_BUILT_FOR ${CMAKE_CUDA_ARCHITECTURES_${word}})
    else()
      list(APPEND LASOLVE_BUILT_FOR ${one})
    endif()
  endforeach()
  string(REPLACE ";" " " LASOLVE_BUILT_FOR "${LASOLVE_BUILT_FOR}")
endmacro()
