// The library's own kernels: parts of the registry.
#pragma once

#include <vector>

#include "families/kernel_spec.h"

namespace duogemm {

// Those under kernels/gemm/ that multiply, and those that do so in support of others.
std::vector<KernelSpec> gemm_kernels();

// For results of few rows or columns.
KernelSpec skinny_columns();
KernelSpec skinny_dots();

// For CPUs.
KernelSpec cpu_direct();
KernelSpec cpu_panels();
KernelSpec cpu_dots();

}  // namespace duogemm
