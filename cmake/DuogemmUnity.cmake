# For unity builds (CMAKE_UNITY_BUILD), as bench/run makes them: the sources of a folder, with those in its subfolders, are compiled
# as one, so that the headers which they share are read once. Sources with an absolute path are generated, and compiled by themselves.
function(duogemm_group_by_folder target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT IS_ABSOLUTE "${source}")
      get_filename_component(folder "${source}" DIRECTORY)
      string(REGEX REPLACE "/.*" "" folder "${folder}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "all/${folder}")  # never empty, as the folder may be
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
