#include "toolkit_library.h"

#include <cuda.h>

#include "library_files.h"

namespace duogemm::cuda {

SharedLibrary open_of_toolkit(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    files.push_back(name);
    for (const std::filesystem::path& folder : toolkit_folders()) {
      files.push_back((folder / name).string());
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
         "`; it is looked for by the system's loader and in " + toolkit_folders_in_words;
}

}  // namespace duogemm::cuda
