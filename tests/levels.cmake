# Loops that are compiled for several sets of instructions: their objects, and what they compute, at each that this machine can run. A
# level that it cannot run is the highest that it can.
if(NOT LASOLVE_SANITIZE) # which puts names of its own into objects, and does not go with valgrind
  add_test(NAME Levels.keep_to_themselves
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/levels.sh ${CMAKE_NM} $<TARGET_FILE:lasolve_tool> ${PROJECT_SOURCE_DIR}/data "${LASOLVE_LEVELS}"
                   "$<FILTER:$<TARGET_OBJECTS:lasolve_objects>,INCLUDE,/levels/>"
           COMMAND_EXPAND_LISTS)
  add_test(NAME Levels.run_without_wide_vectors
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/valgrind.sh $<TARGET_FILE:lasolve_tool> ${PROJECT_SOURCE_DIR}/data "${LASOLVE_LEVELS}")
  set_tests_properties(Levels.keep_to_themselves Levels.run_without_wide_vectors PROPERTIES LABELS cpu TIMEOUT 600)
  set_tests_properties(Levels.run_without_wide_vectors PROPERTIES SKIP_RETURN_CODE 77)
endif()
set(at_each_level_gemm Cpu/Gemm.*packed*)
set(at_each_level_lu LuOnTheCpu*:LuFactors*:Cpu/Lu.*reports_the_first_zero*:Cpu/Lu.*hides_a_nan*)
set(at_each_level_cholesky_factor CholeskyFactor*)
set(at_each_level_small Small.*)
set(at_each_level_trsm Cpu/TriangularSolve*larger_orders:Cpu/TriangularSolve*infinity)
foreach(level IN LISTS LASOLVE_LEVELS)
  if(level STREQUAL one_level)
    continue()
  endif()
  string(REPLACE x86_64 x86-64 name ${level})
  string(REPLACE _ - name ${name})
  foreach(test gemm lu cholesky_factor small trsm)
    add_test(NAME Levels.${test}.${name} COMMAND ${program_of_${test}_test} --gtest_filter=${at_each_level_${test}})
    set_tests_properties(Levels.${test}.${name} PROPERTIES LABELS cpu TIMEOUT 600 ENVIRONMENT LASOLVE_CPU=${name})
  endforeach()
endforeach()
