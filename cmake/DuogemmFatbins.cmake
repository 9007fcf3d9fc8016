# Compiles kernels with nvcc for their standard tunables, and embeds the fat binaries.

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES all-major CACHE STRING
      "Architectures that nvcc compiles the kernels for: all-major, all, native, or a list such as 80;90-real")
endif()

# The options of nvcc that a list of architectures in CMake's notation stands for.
function(duogemm_architecture_options result)
  set(options "")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^(all|all-major|native)$")
      list(APPEND options -arch=${architecture})
    elseif(architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
      set(number ${CMAKE_MATCH_1})
      if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
        list(APPEND options -gencode=arch=compute_${number},code=sm_${number})
      endif()
      if(NOT CMAKE_MATCH_2 STREQUAL "-real")
        list(APPEND options -gencode=arch=compute_${number},code=compute_${number})
      endif()
    else()
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: '${architecture}' is not all, all-major, native, or a number "
                          "such as 90, 90-real or 90-virtual")
    endif()
  endforeach()
  set(${result} ${options} PARENT_SCOPE)
endfunction()

# Adds to `target` a source that defines `function`(), declared in `header`, which finds what is made of the other
# arguments. Those that are no kernels are passed over.
function(duogemm_embed_fatbins target header function)
  duogemm_architecture_options(architectures)
  list(TRANSFORM duogemm_build_tunables PREPEND -D OUTPUT_VARIABLE defines)
  set(warnings $<$<BOOL:${DUOGEMM_WERROR}>:-Werror=all-warnings>)
  set(headers ${duogemm_kernel_files})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  list(TRANSFORM headers PREPEND ${duogemm_source_root}/)
  set(kernels ${ARGN})
  list(FILTER kernels INCLUDE REGEX "\\.cl$")

  set(fatbins "")
  foreach(kernel IN LISTS kernels)
    get_filename_component(name ${kernel} NAME_WE)
    string(REGEX REPLACE "^[0-9]+_" "" name ${name})
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
    add_custom_command(
      OUTPUT ${fatbin}
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -x cu -fatbin -std=c++17 --fmad=false ${warnings}
              ${architectures} ${defines} -I${duogemm_source_root}/compat -I${duogemm_source_root}/kernels
              ${duogemm_source_root}/${kernel} -o ${fatbin}
      DEPENDS ${duogemm_source_root}/${kernel} ${headers} ${duogemm_kernel_choices}
      COMMENT "nvcc ${kernel}"
      VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND fatbins ${fatbin})
  endforeach()

  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_fatbins.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/scripts/EmbedFatbins.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFATBINS=${fatbins}" -DHEADER=${header} -DFUNCTION=${function} -DOUTPUT=${output}
            -P ${script}
    DEPENDS ${script} ${fatbins}
    COMMENT "Embedding the fat binaries"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
