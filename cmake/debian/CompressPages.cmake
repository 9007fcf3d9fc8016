# Run by cpack on what a package will hold: Debian's policy wants pages for man compressed.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/duogemm.1)
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
