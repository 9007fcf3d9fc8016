// Libraries of the CUDA Toolkit, which need not be there: opened at run time.
#pragma once

#include "system/shared_library.h"

namespace duogemm::cuda {

// Opens the first that there is of these files, such as "libnvrtc.so.13". The toolkit of this build comes
// first, which made the programs that the library carries; then the folders of the system's loader, to which
// the RUNPATH of a wheel adds those of NVIDIA's wheels; and $CUDA_HOME, or /usr/local/cuda where that is not
// set.
SharedLibrary open_of_toolkit(const std::vector<std::string>& names);

// Says what is missing and how to get it, also as a package of PyPI, for a message that may begin with
// "needs".
std::string missing_library(const std::string& name, const std::string& package);

}  // namespace duogemm::cuda
