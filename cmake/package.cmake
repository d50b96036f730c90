# What is installed beside programs and libraries, and the packages that ./dev package makes of all of it.

# The program writes its own completions; its man pages are made of its --help.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(SHELL_FILES ${PROJECT_BINARY_DIR}/completions)
set(MAN_PAGES ${PROJECT_BINARY_DIR}/man1)
add_custom_command(
  OUTPUT ${SHELL_FILES}/fathom ${SHELL_FILES}/_fathom ${SHELL_FILES}/fathom.fish ${MAN_PAGES}/fathom.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SHELL_FILES}
  COMMAND $<TARGET_FILE:fathom_program> completion bash > ${SHELL_FILES}/fathom
  COMMAND $<TARGET_FILE:fathom_program> completion zsh > ${SHELL_FILES}/_fathom
  COMMAND $<TARGET_FILE:fathom_program> completion fish > ${SHELL_FILES}/fathom.fish
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/man_pages.py $<TARGET_FILE:fathom_program> ${MAN_PAGES}
  DEPENDS fathom_program ${PROJECT_SOURCE_DIR}/tools/man_pages.py
  COMMENT "Writing man pages and completions"
  VERBATIM)
add_custom_target(fathom_manual ALL DEPENDS ${MAN_PAGES}/fathom.1)
install(DIRECTORY ${MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${SHELL_FILES}/fathom DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${SHELL_FILES}/_fathom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${SHELL_FILES}/fathom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

# All that is installed, and no benchmark.
add_custom_target(installed)
foreach(part fathom fathom_analysis fathom_monitor_library fathom_runtime_library fathom_program fathom_opencl fathom_cuda fathom_manual fathom_python)
  if(TARGET ${part})
    add_dependencies(installed ${part})
  endif()
endforeach()
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "The Fathom authors <fathom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Fathom records what a program does on the GPU, reads the traces of others, and says where the time
went, what changed between runs and what to change. Program, libraries, headers and recorders.")
# The module needs Debian's Python, and NumPy only where columns are asked for.
if(TARGET fathom_python)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.11), python3-numpy")
endif()
# Libraries by what the files need; our own are in the package.
find_program(SHLIBDEPS dpkg-shlibdeps)
if(SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()
include(CPack)
