# Adds to `target` the commit that is checked out, for bench/support/program.h. It is looked up again when git has moved HEAD,
# and at no other time: git then writes its log of HEAD.
function(duogemm_add_commit target)
  set(script ${PROJECT_SOURCE_DIR}/cmake/scripts/WriteCommit.cmake)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/commit.cpp)
  set(log)
  find_program(GIT_EXECUTABLE git)
  if(GIT_EXECUTABLE)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(log)
    file(REAL_PATH ${log} log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(NOT EXISTS ${log})
      set(log)
    endif()
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${output} -P ${script}
    DEPENDS ${script} ${log}
    COMMENT "Looking up the commit"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # others do not change with it
  target_sources(${target} PRIVATE ${output})
endfunction()
