# The kernel and compat files: where they are, how they are embedded, and the tunables whose standard the build chooses.

set(duogemm_source_root ${PROJECT_SOURCE_DIR})

file(GLOB_RECURSE duogemm_kernel_files CONFIGURE_DEPENDS RELATIVE ${duogemm_source_root}
     ${duogemm_source_root}/compat/*.h ${duogemm_source_root}/kernels/*.h ${duogemm_source_root}/kernels/*.cl)

set(duogemm_build_tunables USE_LDG=$<BOOL:${DUOGEMM_USE_LDG}> USE_SHUFFLE=$<BOOL:${DUOGEMM_USE_SHUFFLE}>)

# Changes when another standard is chosen: what is made from the kernels depends on it, because not
# every generator notices that a command has changed.
set(duogemm_kernel_choices ${PROJECT_BINARY_DIR}/kernel_choices.txt)
file(GENERATE OUTPUT ${duogemm_kernel_choices} CONTENT "${duogemm_source_root} ${duogemm_build_tunables}\n")

# What the library does without: the rungs, what supports them, and what measures.
set(duogemm_rung_files ${duogemm_kernel_files})
list(FILTER duogemm_rung_files INCLUDE REGEX "^kernels/(ladder|support)/")
set(duogemm_library_files ${duogemm_kernel_files})
list(REMOVE_ITEM duogemm_library_files ${duogemm_rung_files})

# Adds to `target` a source that defines `function`(), declared in `header`, with the text of FILES, in NAMESPACE or duogemm;
# and build_tunables(), if there are TUNABLES.
function(duogemm_embed_kernels target header function)
  cmake_parse_arguments(PARSE_ARGV 3 embed "" "NAMESPACE" "FILES;TUNABLES")
  if(NOT embed_NAMESPACE)
    set(embed_NAMESPACE duogemm)
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/scripts/EmbedText.cmake)
  list(TRANSFORM embed_FILES PREPEND ${duogemm_source_root}/ OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${duogemm_source_root} -DHEADER=${header} -DFUNCTION=${function}
            -DNAMESPACE=${embed_NAMESPACE}
            "-DFILES=${embed_FILES}" "-DTUNABLES=${embed_TUNABLES}" -DOUTPUT=${output} -P ${script}
    DEPENDS ${script} ${duogemm_kernel_choices} ${paths}
    COMMENT "Embedding kernel files"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # others do not change with it
  target_sources(${target} PRIVATE ${output})
endfunction()

# Adds to `target` a source that defines embedded_tunings(): the measurements under common/tuning/.
function(duogemm_embed_tunings target)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/tuning/*.json)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_tunings.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/scripts/EmbedTunings.cmake)
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_SOURCE_DIR} "-DFILES=${files}" -DOUTPUT=${output} -P
            ${script}
    DEPENDS ${script} ${paths}
    COMMENT "Embedding the measurements"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
