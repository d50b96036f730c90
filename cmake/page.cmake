# fathom_page(OUT): web/ bundled into the one HTML file OUT, with the packages that
# web/package-lock.json names. They are fetched once, by npm; nothing of them is in the repository.
function(fathom_page OUT)
  find_program(NPM npm)
  find_program(NODE NAMES node nodejs)
  if(NOT NPM OR NOT NODE)
    message(FATAL_ERROR "The report page is built with Node.js: apt-get install nodejs npm")
  endif()
  set(WEB ${PROJECT_SOURCE_DIR}/web)
  set(PACKAGES ${WEB}/node_modules/.package-lock.json)
  add_custom_command(
    OUTPUT ${PACKAGES}
    COMMAND ${NPM} ci --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${PACKAGES}
    WORKING_DIRECTORY ${WEB}
    DEPENDS ${WEB}/package.json ${WEB}/package-lock.json
    COMMENT "Fetching the packages that the page is built with"
    VERBATIM)
  file(GLOB_RECURSE SOURCES CONFIGURE_DEPENDS
    ${WEB}/src/*.ts ${WEB}/src/*.tsx ${WEB}/src/*.css ${WEB}/src/*.html)
  add_custom_command(
    OUTPUT ${OUT}
    COMMAND ${NODE} build.mjs ${OUT}
    WORKING_DIRECTORY ${WEB}
    DEPENDS ${SOURCES} ${WEB}/build.mjs ${WEB}/tsconfig.json ${PACKAGES}
    COMMENT "Bundling the page"
    VERBATIM)
endfunction()
