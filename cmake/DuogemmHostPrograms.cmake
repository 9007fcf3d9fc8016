# Compiles the kernels for CPUs with the host's own compiler, once for each setting that a processor with AVX2 may need.

# Adds to `target` what defines host_programs().
function(duogemm_compile_host_programs target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/host_programs)
  set(templates ${PROJECT_SOURCE_DIR}/cmake/templates)
  set(has_programs 0)
  set(sources "")
  set(declarations "")
  set(entries "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
    set(has_programs 1)
    duogemm_host_settings(settings)
    foreach(setting IN LISTS settings)  # in the order of their names, by which they are looked for
      string(REGEX MATCH "^[a-z_]+" kernel "${setting}")
      string(MAKE_C_IDENTIFIER "${setting}" entry)
      string(REPLACE "${kernel} " " " defines "${setting}")
      string(REPLACE " " "\n#define " defines "${defines}")
      string(REPLACE "=" " " defines "${defines}")
      configure_file(${templates}/host_program.cpp.in ${folder}/${entry}.cpp @ONLY)
      list(APPEND sources ${folder}/${entry}.cpp)
      string(APPEND declarations "HostProgram::Entry ${entry};\n")
      string(APPEND entries "      {\"${setting}\", ${entry}},\n")
    endforeach()
  endif()
  configure_file(${templates}/host_programs.cpp.in ${folder}/host_programs.cpp @ONLY)
  target_sources(${target} PRIVATE ${sources} ${folder}/host_programs.cpp)
  # The kernels are C, and lead the compiler of another target through their loops by #pragma unroll. A vector's address is
  # that of its elements.
  set_source_files_properties(${sources} PROPERTIES
    COMPILE_OPTIONS "-O3;-mavx2;-mfma;-fno-strict-aliasing;-Wno-unknown-pragmas;$<$<CXX_COMPILER_ID:Clang>:-Wno-nested-anon-types>"
    INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}/host;${duogemm_source_root}/compat;${duogemm_source_root}/kernels")
endfunction()

# Every setting of the tunables that the planner chooses for vectors of eight where nothing else was measured, and for
# narrower results. It packs panels for a result of 3 x 3 or less, too, which has no program here.
function(duogemm_host_settings result)
  set(settings "")
  foreach(COLS 1 2 4)
    foreach(ROWS_C 0 1)
      list(APPEND settings "cpu_dots COLS=${COLS} ROWS_C=${ROWS_C} VECTORS=4 WIDTH=8")
      foreach(TRANS_B 0 1)
        set(of_b "TRANS_B=${TRANS_B}")
        list(APPEND settings
             "cpu_direct COLS=${COLS} ROWS_C=${ROWS_C} TRANS_A=0 ${of_b} VECTORS=3 WIDTH=4"
             "cpu_direct COLS=${COLS} ROWS_C=${ROWS_C} TRANS_A=0 ${of_b} VECTORS=3 WIDTH=8"
             "cpu_direct COLS=${COLS} ROWS_C=${ROWS_C} TRANS_A=1 ${of_b} VECTORS=4 WIDTH=4")
      endforeach()
    endforeach()
  endforeach()
  foreach(ROWS_C 0 1)
    foreach(ops "TRANS_A=0 TRANS_B=0" "TRANS_A=0 TRANS_B=1" "TRANS_A=1 TRANS_B=0" "TRANS_A=1 TRANS_B=1")
      list(APPEND settings "cpu_panels COLS=4 ROWS_C=${ROWS_C} ${ops} TSK=512 TSM=48 TSN=512 VECTORS=3 WIDTH=8")
    endforeach()
  endforeach()
  list(SORT settings)
  set(${result} ${settings} PARENT_SCOPE)
endfunction()
