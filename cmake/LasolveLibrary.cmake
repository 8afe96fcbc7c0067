# The library of the objects in lasolve_objects, static or shared. Its global names are those of the C interface, and of the namespace
# of the version, in which include/ declares all that it has. Beside it lasolve_whole, for the tool and for tests: static, and with all
# names of namespace lasolve.
#
# Names of templates of Eigen, fmt and the standard library, compiled for this machine's vector units, must not meet the same ones of a
# program, which are compiled otherwise: the linker would take either for both.
set(plugin_names "lasolve_*" "_ZN7lasolve*" "_ZNK7lasolve*" "_ZT?N7lasolve*" "_ZTh*_N7lasolve*" "_ZZN7lasolve*" "_ZZNK7lasolve*"
              "_ZGVZN7lasolve*" "_ZGVN7lasolve*")
set(abi v${PROJECT_VERSION_MAJOR}_${PROJECT_VERSION_MINOR})
file(STRINGS include/lasolve/cpp20.hpp namespace REGEX "define LASOLVE_ABI ${abi}$")
if(NOT namespace)
  message(FATAL_ERROR "include/lasolve/cpp20.hpp: LASOLVE_ABI of version ${PROJECT_VERSION} begins with ${abi}")
endif()
set(public_names "")
foreach(length [0-9] [0-9][0-9])  # of what begins with that
  list(TRANSFORM plugin_names REPLACE "7lasolve" "7lasolve${length}${abi}" OUTPUT_VARIABLE names)
  list(APPEND public_names ${names})
endforeach()
list(REMOVE_DUPLICATES public_names)

# That of C++ itself.
set(LASOLVE_CXX_LIBRARY stdc++)
if(c++ IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  set(LASOLVE_CXX_LIBRARY c++)
endif()

# What was parsed once for all is listed among the objects, and is none.
set(objects "$<FILTER:$<TARGET_OBJECTS:lasolve_objects>,EXCLUDE,[.](gch|pch)$>")

# one_object(LIBRARY NAME...): a static library becomes one object with no other global names. That is done behind its archive, so that
# what uses it is compiled beside it: what a command makes of objects is waited for.
function(one_object library)
  list(TRANSFORM ARGN PREPEND --keep-global-symbol= OUTPUT_VARIABLE kept)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${library}.o)
  add_custom_command(
    TARGET ${library} POST_BUILD
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o ${object}.all
            -Wl,--whole-archive $<TARGET_FILE:${library}> -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --wildcard ${kept} ${object}.all ${object}
    COMMAND ${CMAKE_COMMAND} -E rm ${object}.all $<TARGET_FILE:${library}>
    COMMAND ${CMAKE_AR} qcs $<TARGET_FILE:${library}> ${object}
    COMMAND ${CMAKE_COMMAND} -E rm ${object}
    VERBATIM)
endfunction()

# A project in C that adds this one knows no C++ where it uses the library.
set(LASOLVE_IS_FOR_CXX TRUE)
get_directory_property(parent PARENT_DIRECTORY)
if(parent)
  get_directory_property(LASOLVE_IS_FOR_CXX DIRECTORY ${parent} DEFINITION CMAKE_CXX_COMPILER_LOADED)
endif()

# What uses a library, in the tree or installed.
function(lasolve_usage library)
  if(LASOLVE_IS_FOR_CXX)
    target_compile_features(${library} INTERFACE cxx_std_20)
  endif()
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${LASOLVE_PRIVATE_PACKAGES})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
    # The compiler that links a program of C does not know of the C++ library.
    set(by_another "$<NOT:$<LINK_LANGUAGE:CXX,CUDA>>")
    target_link_libraries(${library} INTERFACE $<${by_another}:${LASOLVE_CXX_LIBRARY}> $<${by_another}:m>)
  endif()
endfunction()

if(BUILD_SHARED_LIBS)
  list(JOIN public_names "; " exported)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/lasolve.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: @exported@; local: *; };\n" @ONLY)
  add_library(lasolve SHARED ${objects})
  target_link_options(lasolve PRIVATE LINKER:--version-script=${map})
  set_target_properties(lasolve PROPERTIES VERSION ${PROJECT_VERSION} LINK_DEPENDS ${map})
else()
  add_library(lasolve STATIC ${objects})
  one_object(lasolve ${public_names})
endif()
lasolve_usage(lasolve)
add_library(lasolve::lasolve ALIAS lasolve)
if(LASOLVE_TOOL)
  add_library(lasolve_whole STATIC ${objects})
  one_object(lasolve_whole ${plugin_names})
  lasolve_usage(lasolve_whole)
endif()
