# Loops that are compiled for several sets of instructions: their objects, and what they compute, at each that this machine can run. A
# level that it cannot run is the highest that it can.
if(NOT LASOLVE_SANITIZE) # which puts names of its own into objects, and does not go with valgrind
  add_test(NAME Levels.keep_to_themselves
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/levels.sh ${CMAKE_NM} $<TARGET_FILE:lasolve_tool> ${PROJECT_SOURCE_DIR}/data "${LASOLVE_LEVELS}"
                   "$<FILTER:$<TARGET_OBJECTS:lasolve_objects>,INCLUDE,/levels/>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(Levels.keep_to_themselves PROPERTIES LABELS cpu TIMEOUT 600)
endif()
foreach(level IN LISTS LASOLVE_LEVELS)
  if(level STREQUAL one_level)
    continue()
  endif()
  string(REPLACE x86_64 x86-64 name ${level})
  string(REPLACE _ - name ${name})
  foreach(program gemm lu cholesky_factor small)
    add_test(NAME Levels.${program}.${name}
             COMMAND ${program}_test --gtest_filter=*packed*:LuOnTheCpu*:LuFactors*:CholeskyFactor*:Small*:*reports_the_first_zero*:*hides_a_nan*:-*Cuda*)
    set_tests_properties(Levels.${program}.${name} PROPERTIES LABELS cpu TIMEOUT 600 ENVIRONMENT LASOLVE_CPU=${name})
  endforeach()
  add_test(NAME Levels.trsm.${name} COMMAND trsm_test --gtest_filter=Cpu*larger_orders:Cpu*infinity)
  set_tests_properties(Levels.trsm.${name} PROPERTIES LABELS cpu TIMEOUT 600 ENVIRONMENT LASOLVE_CPU=${name})
endforeach()
