#include "families/registry.h"

#include "system/reject.h"

namespace duogemm {

std::span<const KernelSpec> registry() {
  static const std::vector<KernelSpec> kernels = [] {
    std::vector<KernelSpec> all;
    for (const auto family :
         {tiled_kernels, skinny_kernels, cpu_kernels, supporting_kernels, tensor_kernels}) {
      for (KernelSpec& kernel : family()) {
        all.push_back(std::move(kernel));
      }
    }
    return all;
  }();
  return kernels;
}

const KernelSpec& find_kernel(std::string_view name) {
  std::string known;
  for (const KernelSpec& spec : registry()) {
    if (spec.name == name) {
      return spec;
    }
    known += (known.empty() ? "" : ", ") + spec.name;
  }
  reject("no kernel " + std::string(name) + "; there are " + known);
}

const KernelSpec& find_gemm_kernel(std::string_view name) {
  const KernelSpec& spec = find_kernel(name);
  if (!spec.is_planned()) {
    reject(spec.name + " is not a production kernel");
  }
  return spec;
}

}  // namespace duogemm
