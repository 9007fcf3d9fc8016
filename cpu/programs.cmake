# Compiles the kernels for CPUs with the host's own compiler, once for each setting that the planner may choose and each set of
# instructions that a processor may have.

include(CheckCXXSourceRuns)

# Adds to `target` what defines cpu_programs().
function(duogemm_compile_cpu_programs target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/programs)
  set(declarations "")
  set(sets "")
  set(choices "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(has_avx2 "__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\")")
    set(has_avx512 "${has_avx2} && __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512vl\")")
    # Tuned for no processor, GCC 12 has vectors of a block in memory, and addresses in vector registers: with AVX-512 it has some
    # there even for haswell, by which a product of 8 x 8 x 8 takes a tenth longer.
    duogemm_cpu_settings(settings 16 8 "SHARES=4 TSK=512 TSM=144 TSN=512")
    duogemm_add_cpu_programs(${target} AVX-512 "${has_avx512}" "-mavx2;-mfma;-mavx512f;-mavx512vl;-mtune=skylake-avx512" 16 "${settings}")
    duogemm_cpu_settings(settings 8 4 "SHARES=4 TSK=256 TSM=96 TSN=512")
    duogemm_add_cpu_programs(${target} AVX2 "${has_avx2}" "-mavx2;-mfma;-mtune=haswell" 8 "${settings}")
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")  # every one has NEON, and twice as many registers
    duogemm_cpu_settings(settings 4 8 "SHARES=4 TSK=256 TSM=96 TSN=128")
    duogemm_add_cpu_programs(${target} NEON true "" 4 "${settings}")
  else()
    duogemm_cpu_settings(settings 4 4 "SHARES=4 TSK=256 TSM=96 TSN=128")
    duogemm_add_cpu_programs(${target} C++ true "" 4 "${settings}")
  endif()
  configure_file(programs.cpp.in ${folder}/programs.cpp @ONLY)
  target_sources(${target} PRIVATE ${folder}/programs.cpp)
endfunction()

# Whether programs are compiled for processors where this holds. With DUOGEMM_NATIVE: for the first of which this machine's is one.
function(duogemm_wants_programs result set condition)
  set(wanted TRUE)
  if(DUOGEMM_NATIVE AND choices)
    set(wanted FALSE)
  elseif(DUOGEMM_NATIVE)
    unset(duogemm_runs_${set} CACHE)  # the folder may have come from another machine
    check_cxx_source_runs("int main() { return ${condition} ? 0 : 1; }" duogemm_runs_${set})
    set(wanted ${duogemm_runs_${set}})
  endif()
  set(${result} ${wanted} PARENT_SCOPE)
endfunction()

# A program of each of the settings, compiled with `options`, and what cpu_programs() says of them all where `condition` holds:
# that they are for those `instructions` and have vectors of that many floats.
function(duogemm_add_cpu_programs target instructions condition options vector_floats settings)
  string(MAKE_C_IDENTIFIER "programs_of_${instructions}" set)
  duogemm_wants_programs(wanted ${set} "${condition}")
  if(NOT wanted)
    return()
  endif()
  set(sources "")
  set(entries "")
  foreach(setting IN LISTS settings)
    string(REGEX MATCH "^[a-z_]+" kernel "${setting}")
    string(MAKE_C_IDENTIFIER "${setting} ${instructions}" entry)
    string(REPLACE " " ";" tunables "${setting}")
    list(POP_FRONT tunables)
    list(SORT tunables)  # as they are looked for
    list(JOIN tunables " " defines)
    string(PREPEND defines " ")
    string(REGEX REPLACE " ([A-Z_]+)=([0-9]+)" "{\"\\1\", \\2}, " values "${defines}")
    string(REPLACE " " "\n#define " defines "${defines}")
    string(REPLACE "=" " " defines "${defines}")
    set(file gemm/cpu/${kernel}.cl)
    if(NOT EXISTS ${duogemm_source_root}/kernels/${file})
      set(file gemm/${kernel}.cl)
    endif()
    configure_file(program.cpp.in ${folder}/${entry}.cpp @ONLY)
    list(APPEND sources ${folder}/${entry}.cpp)
    string(APPEND declarations "CpuEntry ${entry};\n")
    string(APPEND entries "      {\"${kernel}\", {${values}}, reinterpret_cast<void (*)()>(${entry})},\n")
  endforeach()
  string(APPEND sets "const std::vector<BuiltProgram>& ${set}() {\n  static const std::vector<BuiltProgram> all = {\n"
                     "${entries}  };\n  return all;\n}\n\n")
  list(TRANSFORM options REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE quoted)
  list(JOIN quoted ", " quoted)
  string(APPEND choices "    if (${condition}) {\n"
                        "      sets.push_back({\"${instructions}\", ${vector_floats}, ${set}, {${quoted}}});\n    }\n")
  target_sources(${target} PRIVATE ${sources})
  # Sanitizers check each step of the unrolled loops: GCC takes 20 s for some at -O2, and half a second at -O0.
  # A batch that is listed by addresses begins at the null address.
  set(optimise -O2)
  if(DUOGEMM_SANITIZE)
    set(optimise -O0 -fno-sanitize=pointer-overflow)
  endif()
  # The kernels are C, and lead the compiler of another target through their loops by #pragma unroll. A vector's address is
  # that of its elements.
  set_source_files_properties(${sources} PROPERTIES
    COMPILE_OPTIONS "${optimise};${options};-fno-strict-aliasing;-Wno-unknown-pragmas;$<$<CXX_COMPILER_ID:Clang>:-Wno-nested-anon-types>"
    INCLUDE_DIRECTORIES "${duogemm_source_root}/compat;${duogemm_source_root}/kernels")
  set(declarations "${declarations}" PARENT_SCOPE)
  set(sets "${sets}" PARENT_SCOPE)
  set(choices "${choices}" PARENT_SCOPE)
endfunction()

# Every setting of the tunables that the planner chooses where `width` is that of vectors, `columns` those of blocks and `tile`
# what is packed at once.
function(duogemm_cpu_settings result width columns tile)
  set(settings "finish GROUP=1 WPT=8192")
  foreach(ROWS_C 0 1)
    foreach(TRANS_A 0 1)
      foreach(ROOM 8192 131072)
        if(NOT TRANS_A OR ROOM EQUAL 8192)
          list(APPEND settings "cpu_dots COLS=4 ROOM=${ROOM} ROWS_C=${ROWS_C} TRANS_A=${TRANS_A} VECTORS=4 WIDTH=${width}")
        endif()
      endforeach()
      foreach(TRANS_B 0 1)
        set(ops "ROWS_C=${ROWS_C} TRANS_A=${TRANS_A} TRANS_B=${TRANS_B}")
        # An A and a B that are not transposed never change places (see by_rows in common/families/cpu.cpp).
        if(ROWS_C AND TRANS_A AND TRANS_B)
          continue()
        endif()
        if(TRANS_A)
          list(APPEND settings "cpu_direct COLS=4 ${ops} VECTORS=4 WIDTH=4")
        else()
          list(APPEND settings "cpu_direct COLS=${columns} ${ops} VECTORS=3 WIDTH=${width}")
          if(columns LESS 8)
            list(APPEND settings "cpu_direct COLS=8 ${ops} VECTORS=1 WIDTH=${width}")
          endif()
        endif()
        # A is copied where it is transposed, or C has many columns. A C by rows has fewer than a vector has rows, unless neither
        # operand is transposed; fewer than 4 are read in place.
        if(NOT TRANS_A)
          list(APPEND settings "cpu_panels COLS=${columns} COPY_A=0 ${ops} ${tile} VECTORS=3 WIDTH=${width}")
        endif()
        if(NOT ROWS_C OR (TRANS_A AND width GREATER 4) OR NOT (TRANS_A OR TRANS_B))
          list(APPEND settings "cpu_panels COLS=${columns} COPY_A=1 ${ops} ${tile} VECTORS=3 WIDTH=${width}")
        endif()
      endforeach()
    endforeach()
  endforeach()
  set(${result} ${settings} PARENT_SCOPE)
endfunction()
