// The program itself: how it was built, and what comes with it: lists of shapes, the tool that draws, and
// the drop-in libraries.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace duogemm::bench {

// Says what CMake was told of the runtimes and of the switches of kernels: "BACKEND=all, USE_LDG=ON,
// USE_SHUFFLE=OFF".
std::string build_switches();

// Tells whether text may have colours on the standard output (https://no-color.org).
bool terminal_has_colours();

// The commit that the program was built from, or "unknown". Defined by the build
// (cmake/scripts/WriteCommit.cmake).
const char* commit();

// The folder of that name: beside the program in a build folder, or else where an installation puts it.
std::filesystem::path folder_of_program(const std::string& name);

extern const char* const drop_in_blas;
extern const char* const drop_in_cublas;  // of builds with CUDA

// The absolute path of one of them: in the build folder, or where an installation puts it.
std::optional<std::filesystem::path> drop_in_library(const char* name);

}  // namespace duogemm::bench
