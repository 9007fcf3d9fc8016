# For cmake --toolchain: programs for 64-bit ARM under Linux by Debian's cross compiler (g++-aarch64-linux-gnu), which its
# qemu-user runs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# GCC tells with each call of some templates of the standard library that GCC 10 passes their arguments otherwise than GCC 9.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
