// How this system names the files of NVIDIA's driver and of the CUDA Toolkit, and where toolkits are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace duogemm::cuda {

std::string driver_file();

// NVRTC of a major version of the toolkit, and what it opens by name to compile for the version.
std::string nvrtc_file(int major);
std::string nvrtc_builtins_file(int major, int minor);

std::string cublas_file(int major);

// Where libraries are looked for that the system's loader does not find, and the same in words.
std::vector<std::filesystem::path> toolkit_folders();
extern const char* const toolkit_folders_in_words;

}  // namespace duogemm::cuda
