// The libraries that a build may have to compare with.
#pragma once

#include "references/reference.h"

namespace duogemm::bench {

std::unique_ptr<ReferenceLibrary> make_cublas(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_cublaslt(Device& device, Queue& queue);
// device: CUDA's number of it.
std::unique_ptr<ReferenceLibrary> make_cublasxt(std::size_t device);
std::unique_ptr<ReferenceLibrary> make_clblast(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_openblas(std::size_t threads);

}  // namespace duogemm::bench
