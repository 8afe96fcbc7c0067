# What `cmake --install` installs: the library with its CMake package and pkg-config file, the headers, and the tool.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lasolve)

install(TARGETS lasolve EXPORT lasolve)
install(EXPORT lasolve NAMESPACE lasolve:: FILE lasolveTargets.cmake DESTINATION ${package_dir})
install(DIRECTORY include/lasolve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.h)
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(lasolve_tool PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
install(TARGETS lasolve_tool)
install(TARGETS lasolve_peer_eigen DESTINATION ${CMAKE_INSTALL_LIBDIR}/lasolve)  # the tool finds it from where it is itself

# The manual page and completion, which the tool makes from its own tables of options.
set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages})
add_custom_command(TARGET lasolve_tool POST_BUILD
                   COMMAND lasolve_tool help --man > ${pages}/lasolve.1
                   COMMAND lasolve_tool help --completion bash > ${pages}/lasolve
                   COMMAND lasolve_tool help --completion zsh > ${pages}/_lasolve VERBATIM)
install(FILES ${pages}/lasolve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/lasolve DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/_lasolve DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# What draws the pages of `lasolve compare --report`.
install(PROGRAMS scripts/pictures DESTINATION ${CMAKE_INSTALL_DATADIR}/lasolve)
install(FILES scripts/axes.py scripts/bars.py scripts/colours.py scripts/copies.py scripts/measured.py scripts/report_page.py
              scripts/report_tables.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lasolve)

configure_package_config_file(cmake/lasolveConfig.cmake.in lasolveConfig.cmake INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(lasolveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lasolveConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/lasolveConfigVersion.cmake
        DESTINATION ${package_dir})

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
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lasolve.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
