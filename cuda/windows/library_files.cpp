#include "library_files.h"

#include "system/environment.h"

namespace duogemm::cuda {

const char* const toolkit_folders_in_words = "%CUDA_PATH%, which the toolkit's installer sets";

std::string driver_file() { return "nvcuda.dll"; }

std::string nvrtc_file(int major) {
  return "nvrtc64_" + std::to_string(major) + (major == 11 ? "2" : "0") + "_0.dll";
}

std::string nvrtc_builtins_file(int major, int minor) {
  return "nvrtc-builtins64_" + std::to_string(major) + std::to_string(minor) + ".dll";
}

std::string cublas_file(int major) { return "cublas64_" + std::to_string(major) + ".dll"; }

// From CUDA 13 on the DLLs are in a folder of their processor.
std::vector<std::filesystem::path> toolkit_folders() {
  const auto home = environment_path("CUDA_PATH");
  if (!home) {
    return {};
  }
  return {*home / "bin" / "x64", *home / "bin"};
}

}  // namespace duogemm::cuda
