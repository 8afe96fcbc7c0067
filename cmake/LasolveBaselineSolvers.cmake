# Baseline solvers, each loaded when it is first asked for.
sources_of(src/baseline_solvers baseline_solver_sources)
add_library(lasolve_baseline_solvers STATIC ${baseline_solver_sources})
target_include_directories(lasolve_baseline_solvers PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(lasolve_baseline_solvers PUBLIC lasolve_whole PRIVATE lasolve_options ${LASOLVE_PRIVATE_PACKAGES})

# Eigen's, with OpenMP where the compiler has it: a module with one name for others, so that its templates of Eigen do not meet those
# of the rest, which are compiled without. Nor does the tool need OpenMP, whose names would be taken by kernels of one's own.
set(module lasolve_baseline_eigen)
set(module_map ${CMAKE_CURRENT_BINARY_DIR}/${module}.map)
file(CONFIGURE OUTPUT ${module_map} CONTENT "{ global: @module@; local: *; };\n" @ONLY)
add_library(${module} MODULE src/baseline_solvers/module/eigen.cpp)
target_include_directories(${module} PRIVATE include src)
target_link_libraries(${module} PRIVATE lasolve_options Eigen3::Eigen $<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_CXX>)
target_compile_options(${module} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
target_link_options(${module} PRIVATE LINKER:--version-script=${module_map})
# Templates of others, which take a minute with sanitizers; without them they look at their sizes and indices in a debug build.
set_target_properties(${module} PROPERTIES PREFIX "" LINK_DEPENDS ${module_map} LASOLVE_NOT_SANITIZED ON)
add_dependencies(lasolve_baseline_solvers ${module})
file(RELATIVE_PATH bin_to_modules ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/lasolve)
set_source_files_properties(src/baseline_solvers/eigen.cpp PROPERTIES COMPILE_DEFINITIONS
  "LASOLVE_BIN_TO_MODULES=\"${bin_to_modules}\";LASOLVE_EIGEN_MODULE=\"$<TARGET_FILE:${module}>\"")
