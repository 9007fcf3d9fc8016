# For cmake --toolchain: programs for 64-bit Windows by Debian's cross compiler (g++-mingw-w64-x86-64-posix), which its wine64 runs.
# What they are built with, tools/windows_prefix puts into a folder; -DCMAKE_FIND_ROOT_PATH names it.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Programs need no DLL of the compiler's.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
# GCC aligns no stack to 32 bytes there, and takes it for aligned (its bug 54412): the assembler makes moves of what needs no
# alignment. The linker keeps one copy of a template's function. GCC assumes that it is the one of the source that calls it, and
# changes the same registers; sources that are optimised differently have others. -fno-ipa-ra makes GCC assume nothing.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move -fno-ipa-ra")
