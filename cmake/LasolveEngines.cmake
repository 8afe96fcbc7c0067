# Engines that solve one system with several processes: what drives them is a library of the tool, and each engine a module of its own,
# which the tool loads when it is asked for. The modules are not part of what `lasolve_tool` needs.
file(GLOB engines_sources CONFIGURE_DEPENDS engines/*.cpp)
add_library(lasolve_engines STATIC ${engines_sources})
target_include_directories(lasolve_engines PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(lasolve_engines PUBLIC lasolve_whole PRIVATE lasolve_options ${LASOLVE_PRIVATE_PACKAGES})
set(module_begin ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_SHARED_MODULE_PREFIX}lasolve_)
set_source_files_properties(engines/load.cpp PROPERTIES COMPILE_DEFINITIONS
  "LASOLVE_BIN_TO_MODULES=\"${bin_to_modules}\";LASOLVE_ENGINE_MODULE=\"${module_begin}\";LASOLVE_MODULE_SUFFIX=\"${CMAKE_SHARED_MODULE_SUFFIX}\"")

option(LASOLVE_ENGINES "Build engines for several machines, as far as their packages are found" ON)
set(LASOLVE_ENGINE_MODULES "")
if(LASOLVE_ENGINES)
  find_library(SCALAPACK_LIBRARY NAMES scalapack-openmpi scalapack)
endif()
if(NOT LASOLVE_ENGINES OR NOT (SCALAPACK_LIBRARY OR LASOLVE_HAS_CUDA))
  return()  # before MPI is looked for, which takes seconds; the tool says what is needed where an engine is asked for
endif()
set(MPI_CXX_SKIP_MPICXX ON)  # the interface of C serves: nothing is compiled to look for another
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  return()
endif()
list(FILTER MPI_CXX_LIBRARIES EXCLUDE REGEX mpi_cxx)
set(module_map ${CMAKE_CURRENT_BINARY_DIR}/lasolve_engine.map)
file(CONFIGURE OUTPUT ${module_map} CONTENT "{ global: lasolve_make_engine_*; local: *; };\n" @ONLY)

# lasolve_ENGINE, of the sources in engines/ENGINE, with the libraries that follow.
function(lasolve_add_engine engine)
  set(module lasolve_${engine})
  file(GLOB sources CONFIGURE_DEPENDS engines/${engine}/*.cpp)
  add_library(${module} MODULE ${sources})
  target_include_directories(${module} PRIVATE include src ${CMAKE_CURRENT_SOURCE_DIR})
  target_include_directories(${module} SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
  target_compile_definitions(${module} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(${module} PRIVATE lasolve_options ${ARGN} ${MPI_CXX_LIBRARIES})
  target_compile_options(${module} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${module} PRIVATE LINKER:--version-script=${module_map})
  set_target_properties(${module} PROPERTIES LINK_DEPENDS ${module_map} LASOLVE_NOT_SANITIZED ON)
  set(LASOLVE_ENGINE_MODULES ${LASOLVE_ENGINE_MODULES} ${module} PARENT_SCOPE)
endfunction()

if(SCALAPACK_LIBRARY)
  lasolve_add_engine(scalapack ${SCALAPACK_LIBRARY})
endif()
if(LASOLVE_HAS_CUDA)
  # What cuSOLVERMp calls of the toolkit is linked, called here or not: so it is found where the toolkit is.
  lasolve_add_engine(cusolvermp CUDA::cudart CUDA::cublas CUDA::cublasLt CUDA::cusolver ${CMAKE_DL_LIBS})
  target_include_directories(lasolve_cusolvermp SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_options(lasolve_cusolvermp PRIVATE LINKER:--no-as-needed)
  set_target_properties(lasolve_cusolvermp PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
