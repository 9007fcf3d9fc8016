# Compiles programs for devices whose measurements the library carries, and embeds them.

if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(FATAL_ERROR "The build runs duogemm_prebuild, which compiles programs by NVRTC: it cannot cross-compile CUDA")
endif()
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED DOC "The folder of Zstandard's header")
find_library(ZSTD_LIBRARY zstd REQUIRED DOC "Zstandard")
enable_language(ASM)

# Adds to `target` what defines shipped_programs().
function(duogemm_embed_shipped target)
  add_executable(duogemm_prebuild prebuild/main.cpp prebuild/opencl_program.cpp nvrtc_compile.cpp program_archive.cpp
                                  programs_to_ship.cpp)
  target_include_directories(duogemm_prebuild PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_include_directories(duogemm_prebuild SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} ${ZSTD_INCLUDE_DIR}
                                                             ${XXHASH_INCLUDE_DIR})
  target_link_libraries(duogemm_prebuild PRIVATE duogemm_common CUDA::nvrtc ${ZSTD_LIBRARY})
  target_compile_definitions(duogemm_prebuild PRIVATE DUOGEMM_PTXAS="${CUDAToolkit_BIN_DIR}/ptxas")

  # The tool is linked anew whenever anything of duogemm_common changes, but compiles only what is new then.
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/shipped_programs.bin)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND duogemm_prebuild ${archive} cuda $<$<STREQUAL:${DUOGEMM_BACKEND},all>:opencl>
    DEPENDS duogemm_prebuild
    COMMENT "Compiling the programs that the library carries"
    VERBATIM COMMAND_EXPAND_LISTS)
  configure_file(prebuild/shipped_archive.S.in ${CMAKE_CURRENT_BINARY_DIR}/shipped_archive.S @ONLY)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/shipped_archive.S PROPERTIES OBJECT_DEPENDS ${archive})
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/shipped_archive.S program_archive.cpp
                                   shipped_programs.cpp)
  target_include_directories(${target} SYSTEM PRIVATE ${ZSTD_INCLUDE_DIR} ${XXHASH_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${ZSTD_LIBRARY})
endfunction()
