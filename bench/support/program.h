// The program itself: how it was built, and what comes with it: lists of shapes, the tool that draws, and the
// drop-in libraries.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace duogemm::bench {

// Says what CMake was told of the runtimes and of the switches of kernels: "BACKEND=all, USE_LDG=ON,
// USE_SHUFFLE=OFF".
std::string build_switches();

// The folder of that name is beside the program in a build folder, or where an installation puts it: one of
// these exists.
std::vector<std::filesystem::path> program_folders(const std::string& name);

inline constexpr const char* drop_in_blas = "libduogemm_blas.so";
inline constexpr const char* drop_in_cublas = "libduogemm_cublas.so";  // of builds with CUDA

// The absolute path of one of them: in the build folder, or where an installation puts it.
std::optional<std::filesystem::path> drop_in_library(const char* name);

}  // namespace duogemm::bench
