# What `cmake --install` installs of the library, by components: `library` is what programs run with, `development` what they are built
# with: headers, a static library, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lasolve)

install(TARGETS lasolve EXPORT lasolve
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
install(EXPORT lasolve NAMESPACE lasolve:: FILE lasolveTargets.cmake DESTINATION ${package_dir} COMPONENT development)
install(DIRECTORY include/lasolve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

configure_package_config_file(cmake/lasolveConfig.cmake.in lasolveConfig.cmake INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(lasolveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lasolveConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/lasolveConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# pkg-config. Who links the static library links what it stands on, also without `pkg-config --static`; a shared one knows that itself.
set(pc_libs "-l${LASOLVE_CXX_LIBRARY} -lm ${CMAKE_THREAD_LIBS_INIT}")
if(CMAKE_DL_LIBS)
  string(APPEND pc_libs " -l${CMAKE_DL_LIBS}")
endif()
if(LASOLVE_HAS_CUDA)
  set(pc_runtime "-lcudart_static -lrt -ldl")
  if(BUILD_SHARED_LIBS)
    set(pc_runtime "-lcudart")
  endif()
  string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcublas -lcublasLt ${pc_runtime}")
endif()
if(BUILD_SHARED_LIBS)
  set(pc_stands_on "Requires.private: fmt zlib\nLibs: -L\${libdir} -llasolve\nLibs.private: ${pc_libs}")
else()
  set(pc_stands_on "Requires: fmt zlib\nLibs: -L\${libdir} -llasolve ${pc_libs}")
endif()
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/lasolve.pc.in lasolve.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lasolve.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
