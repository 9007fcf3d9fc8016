// Libraries of the CUDA Toolkit, which need not be there: opened at run time.
#pragma once

#include "system/shared_library.h"

namespace duogemm::cuda {

// Opens the first that there is of these files (see library_files.h). Each is looked for by the system's
// loader, to whose folders the RUNPATH of a wheel adds those of NVIDIA's wheels, and then in
// toolkit_folders().
SharedLibrary open_of_toolkit(const std::vector<std::string>& names);

// Says what is missing, why, and how to get it, also as a package of PyPI for this build's CUDA, for a
// message that may begin with "needs".
std::string missing_library(const std::string& name, const std::string& package,
                            const SharedLibrary& library);

}  // namespace duogemm::cuda
