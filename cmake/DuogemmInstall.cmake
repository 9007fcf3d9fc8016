# Installation: headers, libraries, the program, and how CMake and pkg-config find them; and Debian packages of them, by the components
# library, dev and program.
include(CMakePackageConfigHelpers)

foreach(part IN LISTS duogemm_public_parts)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part}/include/duogemm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
endforeach()
list(TRANSFORM duogemm_backends PREPEND duogemm_component_ OUTPUT_VARIABLE components)
set(duogemm_drop_ins "")
foreach(name blas cublas)
  if(TARGET duogemm_${name})
    list(APPEND duogemm_drop_ins ${name})
  endif()
endforeach()
list(TRANSFORM duogemm_drop_ins PREPEND duogemm_ OUTPUT_VARIABLE drop_ins)
install(TARGETS duogemm ${drop_ins} ${components} EXPORT duogemm LIBRARY COMPONENT library NAMELINK_COMPONENT dev
        RUNTIME COMPONENT library ARCHIVE COMPONENT dev)
if(DUOGEMM_BUILD_PROGRAM)
  install(TARGETS duogemm_program RUNTIME COMPONENT program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/shapes ${PROJECT_SOURCE_DIR}/bench/plots ${PROJECT_SOURCE_DIR}/bench/schema
          DESTINATION ${CMAKE_INSTALL_DATADIR}/duogemm COMPONENT program PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
endif()
if(DUOGEMM_BUILD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  install(FILES ${pages}/duogemm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${pages}/duogemm.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program RENAME duogemm)
  install(FILES ${pages}/duogemm.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program RENAME _duogemm)
  install(FILES ${pages}/duogemm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/duogemm)
install(EXPORT duogemm NAMESPACE duogemm:: FILE duogemmTargets.cmake DESTINATION ${package_folder} COMPONENT dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/templates/duogemmConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/duogemmConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/duogemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/duogemmConfig.cmake ${PROJECT_BINARY_DIR}/duogemmConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT dev)

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(with_pkgconfig duogemm)
if(TARGET duogemm_blas)
  list(APPEND with_pkgconfig duogemm_blas)
endif()
foreach(library IN LISTS with_pkgconfig)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/templates/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
  set(CPACK_PACKAGE_VERSION ${duogemm_version})
  set(CPACK_STRIP_FILES ON)
  include(CPack)
else()
  include(DuogemmDebian)
endif()
