# Plants a known defect: copies the kernels and compat, and applies the patch tests/defects/${DUOGEMM_DEFECT}.patch to
# the copy, which the build then uses in place of the real ones.
set(defect_patch ${PROJECT_SOURCE_DIR}/tests/defects/${DUOGEMM_DEFECT}.patch)
if(NOT EXISTS ${defect_patch})
  message(FATAL_ERROR "DUOGEMM_DEFECT is '${DUOGEMM_DEFECT}'; there is no ${defect_patch}")
endif()
message(WARNING "This build has a defect planted in it: ${DUOGEMM_DEFECT}")
set(duogemm_source_root ${PROJECT_BINARY_DIR}/defective)
file(REMOVE_RECURSE ${duogemm_source_root})
file(COPY ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/compat DESTINATION ${duogemm_source_root})
find_program(PATCH_EXECUTABLE patch REQUIRED)
execute_process(COMMAND ${PATCH_EXECUTABLE} -p1 --no-backup-if-mismatch -i ${defect_patch}
                WORKING_DIRECTORY ${duogemm_source_root} COMMAND_ERROR_IS_FATAL ANY)
