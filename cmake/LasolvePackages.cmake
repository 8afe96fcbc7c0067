# What the build stands on. CUDA is optional, and its absence is said once.
set(LASOLVE_CUDA AUTO CACHE STRING "AUTO: where a CUDA toolkit is found; ON: required; OFF: never")
set_property(CACHE LASOLVE_CUDA PROPERTY STRINGS AUTO ON OFF)
include(LasolveArchitectures)

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt 9 REQUIRED)
find_package(ZLIB REQUIRED)
if(LASOLVE_TOOL)
  find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
  find_package(nlohmann_json 3.11 REQUIRED)
endif()
set(LASOLVE_PRIVATE_PACKAGES $<BUILD_INTERFACE:Eigen3::Eigen> Threads::Threads fmt::fmt ZLIB::ZLIB ${CMAKE_DL_LIBS})

# For Eigen's own solvers, a baseline solver, and for tests.
find_package(OpenMP QUIET COMPONENTS CXX)

# An OpenBLAS with threads that a program may have beside the library, in tests/.
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas openblas-pthread
          HINTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp openblas-pthread
             HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
if(OPENBLAS_INCLUDE_DIR AND OPENBLAS_LIBRARY)
  add_library(lasolve_openblas INTERFACE)
  target_include_directories(lasolve_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
  target_link_libraries(lasolve_openblas INTERFACE ${OPENBLAS_LIBRARY})
endif()

set(LASOLVE_HAS_CUDA FALSE)
if(NOT LASOLVE_CUDA STREQUAL "OFF")
  include(LasolveToolkit)
  lasolve_why_no_toolkit(why_no_cuda)
  if(NOT why_no_cuda)
    lasolve_choose_architectures()
    enable_language(CUDA)
    lasolve_name_architectures()
    find_package(CUDAToolkit REQUIRED)
    set(LASOLVE_HAS_CUDA TRUE)
    set(LASOLVE_CUDA_TOOLKIT ${CUDAToolkit_VERSION})
    # CMake 3.25 does not know how this compiler is told of C++20, and would drop the standard without a word.
    if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    else()
      set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
      target_compile_options(lasolve_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    endif()
    target_compile_options(lasolve_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-Xcompiler=-Wall,-Wextra>")
    if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "90a")  # wgmma and setmaxnreg are in code for 9.0a only
      message(STATUS "No architecture 90a: the backend tensor_split cannot run, and tensor uses its plain kernel")
    endif()
    # Kernels are launched by the runtime that they are registered with. So a shared library and the programs that have kernels beside
    # it, as the tests do, have one runtime.
    if(BUILD_SHARED_LIBS)
      set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
      set(LASOLVE_CUDA_RUNTIME CUDA::cudart)
    else()
      set(LASOLVE_CUDA_RUNTIME CUDA::cudart_static)
    endif()
    # Linked only: nvcc knows its headers, and what C++ compiles is compiled as without CUDA, so that ccache has it from there.
    list(APPEND LASOLVE_PRIVATE_PACKAGES $<LINK_ONLY:${LASOLVE_CUDA_RUNTIME}> $<LINK_ONLY:CUDA::cublas> $<LINK_ONLY:CUDA::cublasLt>)
  elseif(LASOLVE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "LASOLVE_CUDA is ON, but ${why_no_cuda}")
  else()
    message(STATUS "No CUDA: ${why_no_cuda}; this is a CPU build")
  endif()
endif()
