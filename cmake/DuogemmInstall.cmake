# Installation: headers, libraries, the program, and how CMake and pkg-config find them; and a Debian package.
include(CMakePackageConfigHelpers)

foreach(part IN LISTS duogemm_public_parts)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part}/include/duogemm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
list(TRANSFORM duogemm_backends PREPEND duogemm_component_ OUTPUT_VARIABLE components)
set(duogemm_drop_ins blas)
if(TARGET duogemm_cublas)
  list(APPEND duogemm_drop_ins cublas)
endif()
list(TRANSFORM duogemm_drop_ins PREPEND duogemm_ OUTPUT_VARIABLE drop_ins)
install(TARGETS duogemm ${drop_ins} ${components} EXPORT duogemm)
if(DUOGEMM_BUILD_PROGRAM)
  install(TARGETS duogemm_program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/shapes ${PROJECT_SOURCE_DIR}/bench/plots ${PROJECT_SOURCE_DIR}/bench/schema
          DESTINATION ${CMAKE_INSTALL_DATADIR}/duogemm PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
endif()
if(DUOGEMM_BUILD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  install(FILES ${PROJECT_BINARY_DIR}/pages/duogemm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/pages/duogemm.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME duogemm)
  install(FILES ${PROJECT_BINARY_DIR}/pages/duogemm.zsh
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _duogemm)
  install(FILES ${PROJECT_BINARY_DIR}/pages/duogemm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/duogemm)
install(EXPORT duogemm NAMESPACE duogemm:: FILE duogemmTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/templates/duogemmConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/duogemmConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/duogemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/duogemmConfig.cmake ${PROJECT_BINARY_DIR}/duogemmConfigVersion.cmake
        DESTINATION ${package_folder})

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(library duogemm duogemm_blas)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/templates/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Where Debian looks for a package's licence.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the duogemm developers")
set(CPACK_PACKAGE_DESCRIPTION "A library with the semantics of BLAS's SGEMM, in C++ and C, on host memory and on the \
handles of OpenCL and CUDA, with drop-in libraries for programs that know only BLAS or cuBLAS, and the program duogemm, \
which runs, checks and times the kernels.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/blas)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "binutils, python3-jinja2, python3-matplotlib")
if("opencl" IN_LIST duogemm_backends)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
endif()
include(CPack)
