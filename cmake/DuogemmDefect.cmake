# Plants a known defect: copies the kernels and compat, and applies the patch tests/defects/${DUOGEMM_DEFECT}.patch to
# the copy, which the build then uses in place of the real ones.
set(defect_patch ${PROJECT_SOURCE_DIR}/tests/defects/${DUOGEMM_DEFECT}.patch)
if(NOT EXISTS ${defect_patch})
  message(FATAL_ERROR "DUOGEMM_DEFECT is '${DUOGEMM_DEFECT}'; there is no ${defect_patch}")
endif()
message(WARNING "This build has a defect planted in it: ${DUOGEMM_DEFECT}")
file(GLOB_RECURSE originals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/* ${PROJECT_SOURCE_DIR}/compat/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${defect_patch} ${originals})

set(patched ${PROJECT_BINARY_DIR}/defective.new)
file(REMOVE_RECURSE ${patched})
file(COPY ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/compat DESTINATION ${patched})
find_program(PATCH_EXECUTABLE patch REQUIRED)
execute_process(COMMAND ${PATCH_EXECUTABLE} -p1 --no-backup-if-mismatch -i ${defect_patch}
                WORKING_DIRECTORY ${patched} COMMAND_ERROR_IS_FATAL ANY)

# A file that differs from what another defect left there becomes new, and only such a file, so that exactly what is
# stale is built again.
set(duogemm_source_root ${PROJECT_BINARY_DIR}/defective)
file(GLOB_RECURSE files RELATIVE ${patched} ${patched}/*)
foreach(file IN LISTS files)
  get_filename_component(folder ${duogemm_source_root}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(COPY_FILE ${patched}/${file} ${duogemm_source_root}/${file} ONLY_IF_DIFFERENT)
endforeach()
