#include "toolkit_library.h"

#include <cstdlib>

namespace duogemm::cuda {

SharedLibrary open_of_toolkit(const std::vector<std::string>& names) {
  const char* const given = std::getenv("CUDA_HOME");
  const std::string home = given != nullptr ? given : "/usr/local/cuda";
  std::vector<std::string> files;
  for (const std::string& name : names) {
    files.push_back(DUOGEMM_CUDA_LIBRARIES "/" + name);
  }
  for (const std::string& name : names) {
    files.push_back(name);
    files.push_back(home + "/lib64/" + name);
  }
  return SharedLibrary(files);
}

std::string missing_library(const std::string& name, const std::string& package) {
  return name + ", which is not here: install the CUDA Toolkit, or `pip install " + package +
         "`; it is looked for by the system's loader and in $CUDA_HOME or /usr/local/cuda";
}

}  // namespace duogemm::cuda
