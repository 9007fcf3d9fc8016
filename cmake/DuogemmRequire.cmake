# Finds a package of headers that defines `target`, unless the project around this one has it already: FetchContent needs no packages of
# the system's. Otherwise says what to install.
function(duogemm_require package target debian_package)
  if(POLICY CMP0167)
    cmake_policy(SET CMP0167 NEW)  # Boost's own configuration, instead of a module that CMake gave up
  endif()
  if(NOT TARGET ${target})
    find_package(${package} QUIET)
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "duogemm needs ${package}: install it (${debian_package} on Debian), or define ${target} before duogemm is added")
  endif()
endfunction()
