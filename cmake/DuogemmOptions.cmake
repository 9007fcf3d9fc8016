# The options. In a project that adds duogemm as a part of itself, each is called DUOGEMM_..., and the defaults leave that
# project alone. At the top level, BACKEND, USE_LDG and USE_SHUFFLE go by these names. Either way the rest of the build
# reads DUOGEMM_BACKEND, DUOGEMM_USE_LDG and DUOGEMM_USE_SHUFFLE.

set(duogemm_option_prefix DUOGEMM_)
if(PROJECT_IS_TOP_LEVEL)
  set(duogemm_option_prefix "")
endif()

option(DUOGEMM_BUILD_PYTHON "Build what the Python package holds; pip sets it" OFF)
# pip says nothing about runtimes: it gets all that the machine can compile for.
set(default_backend opencl)
if(DUOGEMM_BUILD_PYTHON)
  find_package(CUDAToolkit 11.8 QUIET)
  if(CUDAToolkit_FOUND)
    set(default_backend all)
  endif()
endif()
set(${duogemm_option_prefix}BACKEND ${default_backend} CACHE STRING "Runtimes to build besides cpu: opencl, cuda, all, or cpu for no other")
set_property(CACHE ${duogemm_option_prefix}BACKEND PROPERTY STRINGS opencl cuda all cpu)
option(${duogemm_option_prefix}USE_LDG "Kernels load A and B through the read-only path by default" ON)
option(${duogemm_option_prefix}USE_SHUFFLE "Kernels pass fragments of B by shuffles by default" OFF)
if(PROJECT_IS_TOP_LEVEL)
  foreach(name BACKEND USE_LDG USE_SHUFFLE)
    set(DUOGEMM_${name} ${${name}})
  endforeach()
endif()
if(NOT DUOGEMM_BACKEND MATCHES "^(opencl|cuda|all|cpu)$")
  message(FATAL_ERROR
          "${duogemm_option_prefix}BACKEND is '${DUOGEMM_BACKEND}'; it must be opencl, cuda, all or cpu")
endif()

option(DUOGEMM_NATIVE "The kernels of the device cpu for this machine's processor alone" OFF)
option(DUOGEMM_BUILD_PROGRAM "Build the program duogemm" ${PROJECT_IS_TOP_LEVEL})
option(DUOGEMM_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(DUOGEMM_INSTALL "Install what is built, and make a package of it" ${PROJECT_IS_TOP_LEVEL})
option(DUOGEMM_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
if(DUOGEMM_NATIVE AND (DUOGEMM_BUILD_TESTS OR CMAKE_CROSSCOMPILING))
  message(FATAL_ERROR "DUOGEMM_NATIVE is ON: it needs DUOGEMM_BUILD_TESTS=OFF, and a build for this machine")
endif()
if(DUOGEMM_BUILD_TESTS AND NOT DUOGEMM_BUILD_PROGRAM)
  message(FATAL_ERROR "DUOGEMM_BUILD_TESTS is ON: the tests need DUOGEMM_BUILD_PROGRAM=ON too")
endif()
