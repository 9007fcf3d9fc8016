// The library's kernels, family by family. Adding one is one file under kernels/gemm/ and one entry in its
// family's list.
#pragma once

#include <vector>

#include "families/kernel_spec.h"

namespace duogemm {

std::vector<KernelSpec> tiled_kernels();
std::vector<KernelSpec> skinny_kernels();
std::vector<KernelSpec> cpu_kernels();
std::vector<KernelSpec> supporting_kernels();
std::vector<KernelSpec> tensor_kernels();

}  // namespace duogemm
