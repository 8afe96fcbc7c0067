# The library of the objects in lasolve_objects, static or shared, with no global names but its own. Those of templates of
# Eigen, fmt and the standard library, compiled for this machine's vector units, must not meet the same ones of a program,
# which are compiled otherwise: the linker would take either for both.
set(own_names "lasolve_*" "_ZN7lasolve*" "_ZNK7lasolve*" "_ZT?N7lasolve*" "_ZTh*_N7lasolve*" "_ZZN7lasolve*" "_ZZNK7lasolve*"
              "_ZGVZN7lasolve*" "_ZGVN7lasolve*")

# That of C++ itself.
set(LASOLVE_CXX_LIBRARY stdc++)
if(c++ IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  set(LASOLVE_CXX_LIBRARY c++)
endif()

# What was parsed once for all is listed among the objects, and is none.
set(objects $<FILTER:$<TARGET_OBJECTS:lasolve_objects>,EXCLUDE,[.](gch|pch)$>)

if(BUILD_SHARED_LIBS)
  list(JOIN own_names "; " exported)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/lasolve.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: @exported@; local: *; };\n" @ONLY)
  add_library(lasolve SHARED ${objects})
  target_link_options(lasolve PRIVATE LINKER:--version-script=${map})
  set_target_properties(lasolve PROPERTIES VERSION ${PROJECT_VERSION} LINK_DEPENDS ${map})
else()
  add_library(lasolve STATIC ${objects})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/lasolve.o)
  list(TRANSFORM own_names PREPEND --keep-global-symbol= OUTPUT_VARIABLE kept)
  # Behind the archive, so that what uses the library is compiled beside it: what a command makes of objects is waited for.
  add_custom_command(
    TARGET lasolve POST_BUILD
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o ${object}.all
            -Wl,--whole-archive $<TARGET_FILE:lasolve> -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --wildcard ${kept} ${object}.all ${object}
    COMMAND ${CMAKE_COMMAND} -E rm ${object}.all $<TARGET_FILE:lasolve>
    COMMAND ${CMAKE_AR} qcs $<TARGET_FILE:lasolve> ${object}
    VERBATIM)
  set_target_properties(lasolve PROPERTIES LINKER_LANGUAGE CXX)
  # The compiler that links a program of C does not know of the C++ library.
  set(by_another "$<NOT:$<LINK_LANGUAGE:CXX,CUDA>>")
  target_link_libraries(lasolve INTERFACE $<${by_another}:${LASOLVE_CXX_LIBRARY}> $<${by_another}:m>)
endif()
