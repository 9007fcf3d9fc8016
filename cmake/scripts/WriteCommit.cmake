# Writes OUTPUT: C++ that defines commit(), declared in bench/support/program.h. It is the commit that SOURCE is checked out
# at, or "unknown" where SOURCE is no checkout of its own, such as an unpacked archive. A file that would stay the same is
# not touched.
set(commit unknown)
find_program(GIT_EXECUTABLE git)
if(GIT_EXECUTABLE)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH ${SOURCE} source)
  if(root AND root STREQUAL source)  # and not a folder within somebody else's
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short HEAD WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(commit ${found})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"support/program.h\"

namespace duogemm::bench {

const char* commit() { return \"${commit}\"; }

}  // namespace duogemm::bench
")
