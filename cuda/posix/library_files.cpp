#include "library_files.h"

#include "system/environment.h"

namespace duogemm::cuda {

const char* const toolkit_folders_in_words = "$CUDA_HOME or /usr/local/cuda";

std::string driver_file() { return "libcuda.so.1"; }

std::string nvrtc_file(int major) { return "libnvrtc.so." + (major == 11 ? "11.2" : std::to_string(major)); }

std::string nvrtc_builtins_file(int major, int minor) {
  return "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
}

std::string cublas_file(int major) { return "libcublas.so." + std::to_string(major); }

std::vector<std::filesystem::path> toolkit_folders() {
  const std::filesystem::path given = environment_path("CUDA_HOME").value_or("");
  const std::filesystem::path home = given.empty() ? "/usr/local/cuda" : given;
  return {DUOGEMM_CUDA_LIBRARIES, home / "lib64", home / "lib"};
}

}  // namespace duogemm::cuda
