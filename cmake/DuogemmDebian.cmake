# Debian packages: libduogemm0, libduogemm-dev and duogemm. `cpack` in the build folder makes them.
set(debian_library libduogemm${PROJECT_VERSION_MAJOR})
set(debian_dev libduogemm-dev)
set(debian_program duogemm)

string(REPLACE - ~ debian_version ${duogemm_version})  # a candidate is older than its release

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${debian_version})
set(CPACK_COMPONENTS_ALL library dev)
if(DUOGEMM_BUILD_PROGRAM)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)  # a package for each
set(CPACK_DEB_COMPONENT_INSTALL ON)

# Where Debian looks for licence and changes. An installation without packages has LICENSE instead.
find_program(DUOGEMM_GZIP gzip)
mark_as_advanced(DUOGEMM_GZIP)
if(DUOGEMM_GZIP)
  execute_process(COMMAND ${DUOGEMM_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.gz)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    install(FILES ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_SOURCE_DIR}/cmake/debian/copyright
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${debian_${component}} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endif()

# As Debian's own tools have it, who makes a package is named in the environment.
set(CPACK_PACKAGE_CONTACT "duogemm developers <duogemm@example.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "The library, with the semantics of BLAS's SGEMM, in C++ and C, on host
memory and on the handles of OpenCL and CUDA; and drop-in libraries for
programs that know only BLAS or cuBLAS.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "The library's headers, and how CMake and pkg-config find it.")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "The program duogemm: a ladder of kernels from one work-item per element to
tensor cores, benchmarks beside other libraries, and a tuner.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/blas)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/CompressPages.cmake)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${debian_${component}})
endforeach()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${debian_library} (= ${debian_version})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${debian_library} (= ${debian_version})")  # `duogemm run` preloads the drop-ins
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "binutils, libopenblas0, python3-jinja2, python3-matplotlib")
set(features /usr/${CMAKE_LIBRARY_ARCHITECTURE}/include/features.h)
if(CMAKE_CROSSCOMPILING AND EXISTS ${features})  # by Debian's compiler, whose own packages dpkg-shlibdeps would name
  execute_process(COMMAND dpkg-architecture -t${CMAKE_LIBRARY_ARCHITECTURE} -qDEB_HOST_ARCH OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_ARCHITECTURE
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
    message(WARNING "dpkg-architecture (package dpkg-dev) is missing: Debian packages made here would be for the wrong machine")
  endif()
  file(STRINGS ${features} glibc REGEX "define[ \t]+__GLIBC_MINOR__")
  string(REGEX REPLACE ".*[ \t]" "2." glibc "${glibc}")
  string(REGEX MATCH "^[0-9]+" gcc ${CMAKE_CXX_COMPILER_VERSION})
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libc6 (>= ${glibc}), libgcc-s1 (>= ${gcc}), libstdc++6 (>= ${gcc})")
  string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ", ${CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS}")
endif()
if("opencl" IN_LIST duogemm_backends)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", ocl-icd-opencl-dev, opencl-c-headers")
endif()
include(CPack)
