// Libraries of the CUDA Toolkit, which need not be there: opened at run time.
#pragma once

#include "system/shared_library.h"

namespace duogemm::cuda {

// Opens the first that there is of these files, such as "libnvrtc.so.13". Each is looked for by the system's
// loader, to whose folders the RUNPATH of a wheel adds those of NVIDIA's wheels; then in the toolkit of this
// build; and in $CUDA_HOME, or /usr/local/cuda where that is not set.
SharedLibrary open_of_toolkit(const std::vector<std::string>& names);

// Says what is missing, why, and how to get it, also as a package of PyPI for this build's CUDA, for a
// message that may begin with "needs".
std::string missing_library(const std::string& name, const std::string& package,
                            const SharedLibrary& library);

}  // namespace duogemm::cuda
