// What CMake was told of the runtimes and of the switches of kernels.
#pragma once

#include <string>

namespace duogemm::bench {

// "BACKEND=all, USE_LDG=ON, USE_SHUFFLE=OFF"
std::string build_switches();

}  // namespace duogemm::bench
