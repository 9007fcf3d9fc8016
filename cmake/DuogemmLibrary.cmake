# What the parts are joined into:
#   duogemm_internal  a static library for the program and the tests, which reach inside
#   duogemm           the shared library that users link; it exports what cmake/templates/exports.map lists

set(duogemm_backend_includes "")
set(duogemm_backend_list "")
set(duogemm_parts duogemm_common)
foreach(backend IN LISTS duogemm_backends)
  string(APPEND duogemm_backend_includes "#include \"${backend}_backend.h\"\n")
  list(APPEND duogemm_backend_list "&${backend}_backend()")
  list(APPEND duogemm_parts duogemm_${backend})
endforeach()
# Whatever runtime a program is for, CUDA's compiler made it.
set(duogemm_shipped_program std::nullopt)
if(TARGET duogemm_shipped)
  string(APPEND duogemm_backend_includes "#include \"prebuild/program_archive.h\"\n")
  set(duogemm_shipped_program "cuda::shipped_program(source, device.backend, device.compute_capability)")
endif()
list(JOIN duogemm_backend_list ", " duogemm_backend_list)
configure_file(${PROJECT_SOURCE_DIR}/cmake/templates/backends.cpp.in ${PROJECT_BINARY_DIR}/backends.cpp @ONLY)

add_library(duogemm_internal STATIC ${PROJECT_BINARY_DIR}/backends.cpp)
target_link_libraries(duogemm_internal PUBLIC ${duogemm_parts})
set_target_properties(duogemm_internal PROPERTIES POSITION_INDEPENDENT_CODE ON)

set(duogemm_exports ${PROJECT_SOURCE_DIR}/cmake/templates/exports.map)
add_library(duogemm SHARED ${PROJECT_BINARY_DIR}/backends.cpp)
add_library(duogemm::duogemm ALIAS duogemm)
# The public functions of the parts are wanted whether or not something here calls them: so their objects are linked, and the parts
# themselves for what they in turn are linked to.
list(TRANSFORM duogemm_parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
target_sources(duogemm PRIVATE ${objects})
target_link_libraries(duogemm PRIVATE ${duogemm_parts})
set(definitions "")
if(WIN32)
  set(definitions ${PROJECT_BINARY_DIR}/duogemm.def)
elseif(APPLE)
  set(definitions ${PROJECT_BINARY_DIR}/duogemm.exports)
endif()
if(definitions)
  list(TRANSFORM duogemm_parts REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  add_custom_command(
    OUTPUT ${definitions}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DFOR_MACOS=${APPLE} -DMAP=${duogemm_exports} "-DARCHIVES=${archives}" -DOUTPUT=${definitions}
            -P ${PROJECT_SOURCE_DIR}/cmake/scripts/WriteExports.cmake
    DEPENDS ${duogemm_parts} ${duogemm_exports} ${PROJECT_SOURCE_DIR}/cmake/scripts/WriteExports.cmake
    COMMENT "Listing what the library exports"
    VERBATIM)
  target_sources(duogemm PRIVATE ${definitions})
endif()
if(WIN32)
  set_target_properties(duogemm PROPERTIES PREFIX "")
elseif(APPLE)
  target_link_options(duogemm PRIVATE LINKER:-exported_symbols_list,${definitions})
  set_target_properties(duogemm PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        LINK_DEPENDS ${definitions})
else()
  target_link_options(duogemm PRIVATE LINKER:--version-script=${duogemm_exports} LINKER:--no-undefined)
  set_target_properties(duogemm PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        LINK_DEPENDS ${duogemm_exports})
endif()
set(duogemm_public_parts common ${duogemm_backends})  # those with public headers
list(REMOVE_ITEM duogemm_public_parts cpu)
foreach(part IN LISTS duogemm_public_parts)
  target_include_directories(duogemm PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${part}/include>)
endforeach()
target_include_directories(duogemm PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# One target for each component, so that find_package(duogemm COMPONENTS cuda) says what a program relies on.
foreach(backend IN LISTS duogemm_backends)
  add_library(duogemm_component_${backend} INTERFACE)
  add_library(duogemm::${backend} ALIAS duogemm_component_${backend})
  set_target_properties(duogemm_component_${backend} PROPERTIES EXPORT_NAME ${backend})
  target_link_libraries(duogemm_component_${backend} INTERFACE duogemm)
endforeach()
if("opencl" IN_LIST duogemm_backends)
  target_link_libraries(duogemm_component_opencl INTERFACE OpenCL::OpenCL)
endif()
