# What `cmake --install` installs of the tool: the component `tool`.
set_target_properties(lasolve_tool PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
install(TARGETS lasolve_tool COMPONENT tool)
install(TARGETS lasolve_baseline_eigen DESTINATION ${CMAKE_INSTALL_LIBDIR}/lasolve COMPONENT tool)  # the tool finds it from where it is itself

if(LASOLVE_ENGINE_MODULES)
  install(TARGETS ${LASOLVE_ENGINE_MODULES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/lasolve COMPONENT tool OPTIONAL)
endif()

# The manual page and completion, which the tool makes from its own tables of options.
set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages})
add_custom_command(TARGET lasolve_tool POST_BUILD
                   COMMAND lasolve_tool help --man > ${pages}/lasolve.1
                   COMMAND lasolve_tool help --completion bash > ${pages}/lasolve
                   COMMAND lasolve_tool help --completion zsh > ${pages}/_lasolve VERBATIM)
install(FILES ${pages}/lasolve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES ${pages}/lasolve DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
install(FILES ${pages}/_lasolve DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)

# What draws the pages of `lasolve compare --report`.
install(PROGRAMS scripts/pictures DESTINATION ${CMAKE_INSTALL_DATADIR}/lasolve COMPONENT tool)
install(FILES scripts/axes.py scripts/bars.py scripts/colours.py scripts/copies.py scripts/measured.py scripts/report_page.py
              scripts/report_tables.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lasolve COMPONENT tool)
