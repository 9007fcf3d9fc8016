#include "toolkit_library.h"

#include <cuda.h>

#include <cstdlib>

namespace duogemm::cuda {

SharedLibrary open_of_toolkit(const std::vector<std::string>& names) {
  const char* const given = std::getenv("CUDA_HOME");
  const std::string home = given != nullptr && *given != '\0' ? given : "/usr/local/cuda";
  std::vector<std::string> files;
  for (const std::string& name : names) {
    for (const std::string& folder :
         {std::string(), std::string(DUOGEMM_CUDA_LIBRARIES "/"), home + "/lib64/", home + "/lib/"}) {
      files.push_back(folder + name);
    }
  }
  return SharedLibrary(files);
}

std::string missing_library(const std::string& name, const std::string& package,
                            const SharedLibrary& library) {
  constexpr int major = CUDA_VERSION / 1000;
  const std::string suffix = major >= 13 ? "" : "-cu" + std::to_string(major);
  return name + ", which is not here (" + library.absence() +
         "): install the CUDA Toolkit, or, for the wheel, `pip install " + package + suffix +
         "`; it is looked for by the system's loader and in $CUDA_HOME or /usr/local/cuda";
}

}  // namespace duogemm::cuda
