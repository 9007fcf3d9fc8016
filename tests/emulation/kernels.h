// Kernel files that the build has compiled for the host, with some tunables each (see kernel.cpp).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace duogemm::emulation {

// Work-groups; what the parameters that are pointers point to, in their order; and the struct of the others.
using RunKernel = void (*)(const std::array<std::size_t, 3>& groups, const std::vector<void*>& pointers,
                           const void* numbers);

// By the name that the build gave them.
std::map<std::string, RunKernel>& kernels();

}  // namespace duogemm::emulation
