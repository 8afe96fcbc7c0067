# Engines that solve one system with several processes: what drives them is a library of the tool, and each engine a module of its own,
# which the tool loads when it is asked for. The modules are not part of what `lasolve_tool` needs.
file(GLOB engines_sources CONFIGURE_DEPENDS engines/*.cpp)
add_library(lasolve_engines STATIC ${engines_sources})
target_include_directories(lasolve_engines PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(lasolve_engines PUBLIC lasolve_whole PRIVATE lasolve_options ${LASOLVE_PRIVATE_PACKAGES})
set(module lasolve_scalapack)
set(file_of_module ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_SHARED_MODULE_PREFIX}${module}${CMAKE_SHARED_MODULE_SUFFIX})
set_source_files_properties(engines/load.cpp PROPERTIES COMPILE_DEFINITIONS
  "LASOLVE_BIN_TO_MODULES=\"${bin_to_modules}\";LASOLVE_SCALAPACK_MODULE=\"${file_of_module}\"")

option(LASOLVE_ENGINES "Build engines for several machines, as far as their packages are found" ON)
if(NOT LASOLVE_ENGINES)
  return()
endif()
find_library(SCALAPACK_LIBRARY NAMES scalapack-openmpi scalapack)
if(NOT SCALAPACK_LIBRARY)
  return()  # before MPI is looked for, which takes seconds; the tool says what is needed where the engine is asked for
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  return()
endif()
list(FILTER MPI_CXX_LIBRARIES EXCLUDE REGEX mpi_cxx)
set(module_map ${CMAKE_CURRENT_BINARY_DIR}/${module}.map)
file(CONFIGURE OUTPUT ${module_map} CONTENT "{ global: lasolve_make_engine_*; local: *; };\n" @ONLY)
add_library(${module} MODULE engines/scalapack/module.cpp)
target_include_directories(${module} PRIVATE include src ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(${module} SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
target_compile_definitions(${module} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the interface of C serves
target_link_libraries(${module} PRIVATE lasolve_options ${SCALAPACK_LIBRARY} ${MPI_CXX_LIBRARIES})
target_compile_options(${module} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
target_link_options(${module} PRIVATE LINKER:--version-script=${module_map})
set_target_properties(${module} PROPERTIES LINK_DEPENDS ${module_map} LASOLVE_NOT_SANITIZED ON)
