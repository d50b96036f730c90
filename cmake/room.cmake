# fathom_room(NAME SOURCES … [USES other rooms …] [LINK libraries …])
#
# One folder under src/ is one static library fathom_NAME. USES says which rooms it may include;
# nothing else is on its path but src/ itself, so ARCHITECTURE.md and the link line agree.
function(fathom_room NAME)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINK" ${ARGN})
  add_library(fathom_${NAME} STATIC ${ROOM_SOURCES})
  target_include_directories(fathom_${NAME} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM ROOM_USES PREPEND fathom_)
  target_link_libraries(fathom_${NAME} PUBLIC ${ROOM_USES} PRIVATE ${ROOM_LINK})
endfunction()

# fathom_test(NAME SOURCES … [LINK …]): one GoogleTest program per room, every test known to CTest. Under the
# thread and address sanitizers, where a program takes longer to start than most tests take, CTest knows shares of
# a program instead, one per source file: NAME.1, NAME.2, …
function(fathom_test NAME)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINK" ${ARGN})
  add_executable(test_${NAME} ${TEST_SOURCES})
  target_include_directories(test_${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${NAME} PRIVATE FATHOM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  FATHOM_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(test_${NAME} PRIVATE ${TEST_LINK} GTest::gtest_main)
  target_precompile_headers(test_${NAME} REUSE_FROM test_headers)
  if(NOT FATHOM_SANITIZE)
    gtest_discover_tests(test_${NAME} TEST_PREFIX ${NAME}. DISCOVERY_TIMEOUT 60)
    return()
  endif()
  list(LENGTH TEST_SOURCES shares)
  foreach(share RANGE 1 ${shares})
    math(EXPR index "${share} - 1")
    add_test(NAME ${NAME}.${share} COMMAND test_${NAME} --gtest_brief=1)
    set_tests_properties(${NAME}.${share} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# fathom_bench(NAME [LINK …]): bench/NAME.cpp becomes bin/bench_NAME.
function(fathom_bench NAME)
  cmake_parse_arguments(BENCH "" "" "SOURCES;LINK" ${ARGN})
  add_executable(bench_${NAME} ${NAME}.cpp ${BENCH_SOURCES})
  set_target_properties(bench_${NAME} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(bench_${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(bench_${NAME} PRIVATE ${BENCH_LINK})
  add_dependencies(benches bench_${NAME})
endfunction()

# fathom_fuzz(NAME LINK …): fuzz/NAME.cpp becomes bin/fuzz_NAME, a libFuzzer program.
function(fathom_fuzz NAME)
  cmake_parse_arguments(FUZZ "" "" "LINK" ${ARGN})
  add_executable(fuzz_${NAME} ${NAME}.cpp)
  target_include_directories(fuzz_${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(fuzz_${NAME} PRIVATE ${FUZZ_LINK})
  target_link_options(fuzz_${NAME} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${NAME})
endfunction()
