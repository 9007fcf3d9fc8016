# DUOGEMM_SANITIZE: the sanitizers that everything is compiled and linked with. A report ends the program.
set(DUOGEMM_SANITIZE "" CACHE STRING "Sanitizers to build with: address, thread, undefined, or a list with commas")

if(DUOGEMM_SANITIZE)
  if(NOT DUOGEMM_SANITIZE MATCHES "^(address|thread|undefined)(,(address|thread|undefined))*$")
    message(FATAL_ERROR "DUOGEMM_SANITIZE is '${DUOGEMM_SANITIZE}'; "
                        "it must be empty or of address, thread and undefined, with commas between")
  endif()
  if(DUOGEMM_SANITIZE MATCHES "address" AND DUOGEMM_SANITIZE MATCHES "thread")
    message(FATAL_ERROR "DUOGEMM_SANITIZE is '${DUOGEMM_SANITIZE}'; address and thread do not go together")
  endif()
  add_compile_options(-fsanitize=${DUOGEMM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-maybe-uninitialized)  # the checks' code makes GCC suspect std::regex of it
  endif()
  add_link_options(-fsanitize=${DUOGEMM_SANITIZE})
endif()
