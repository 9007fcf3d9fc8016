# The library that users link: common and the backends of this build, joined by a generated backends().

set(duogemm_backend_includes "")
set(duogemm_backend_list "")
foreach(backend IN LISTS duogemm_backends)
  string(APPEND duogemm_backend_includes "#include \"${backend}_backend.h\"\n")
  list(APPEND duogemm_backend_list "&${backend}_backend()")
endforeach()
list(JOIN duogemm_backend_list ", " duogemm_backend_list)
configure_file(${PROJECT_SOURCE_DIR}/cmake/backends.cpp.in ${PROJECT_BINARY_DIR}/backends.cpp @ONLY)

add_library(duogemm STATIC ${PROJECT_BINARY_DIR}/backends.cpp)
add_library(duogemm::duogemm ALIAS duogemm)
target_link_libraries(duogemm PUBLIC duogemm_common)
foreach(backend IN LISTS duogemm_backends)
  target_link_libraries(duogemm PRIVATE duogemm_${backend})
endforeach()
