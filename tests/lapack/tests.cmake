# The drop-in for LAPACK: a program of C that calls every name, and LAPACK's own test programs.
add_executable(lapack_names lapack/names.c)
set_target_properties(lapack_names PROPERTIES ENABLE_EXPORTS ON)  # of its own xerbla_
target_compile_options(lapack_names PRIVATE -Wall -Wextra)
target_link_libraries(lapack_names PRIVATE lasolve_lapack m Threads::Threads)
add_test(NAME Lapack.has_every_name COMMAND lapack_names)
add_test(NAME Lapack.has_every_name_with_narrow_blocks COMMAND lapack_names)
set_tests_properties(Lapack.has_every_name PROPERTIES ENVIRONMENT LASOLVE_CROSSOVER=0 LABELS cpu TIMEOUT 300)
set_tests_properties(Lapack.has_every_name_with_narrow_blocks
                     PROPERTIES ENVIRONMENT "LASOLVE_CROSSOVER=0;LASOLVE_BLOCK_SIZE=5;LASOLVE_GEMM=naive" LABELS cpu TIMEOUT 300)

add_test(NAME Lapack.passes_the_tests_of_LAPACK COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lapack/own_tests.sh $<TARGET_FILE:lasolve_tool>)
set_tests_properties(Lapack.passes_the_tests_of_LAPACK PROPERTIES LABELS cpu TIMEOUT 600 SKIP_RETURN_CODE 77 COST 50)
add_test(NAME Lapack.is_loaded_before_a_program
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lapack/run.sh $<TARGET_FILE:lasolve_tool> $<TARGET_FILE:lapack_names>)
set_tests_properties(Lapack.is_loaded_before_a_program PROPERTIES LABELS cpu TIMEOUT 300)

if(LASOLVE_HAS_CUDA)
  add_test(NAME LapackOnCuda.has_every_name
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lapack/on_device.sh $<TARGET_FILE:lasolve_tool> $<TARGET_FILE:lapack_names>)
  add_test(NAME LapackOnCuda.passes_the_tests_of_LAPACK
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lapack/own_tests.sh $<TARGET_FILE:lasolve_tool> cuda cublas naive)
  set_tests_properties(LapackOnCuda.has_every_name LapackOnCuda.passes_the_tests_of_LAPACK
                       PROPERTIES LABELS cuda TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
