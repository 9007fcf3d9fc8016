#include "families/gemm_kernels.h"

namespace duogemm {

std::span<const KernelSpec> registry() {
  static const std::vector<KernelSpec> kernels = gemm_kernels();
  return kernels;
}

}  // namespace duogemm
