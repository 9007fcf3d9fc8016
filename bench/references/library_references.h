// The libraries that a build may have to compare with.
#pragma once

#include "references/reference.h"

namespace duogemm::bench {

std::unique_ptr<ReferenceLibrary> make_cublas(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_cublaslt(Device& device, Queue& queue);
// device: CUDA's number of it.
std::unique_ptr<ReferenceLibrary> make_cublasxt(std::size_t device);
// Each multiplies FP32 matrices in another way than FP32.
std::unique_ptr<ReferenceLibrary> make_cublas_tf32(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_cublas_emulation(Device& device, Queue& queue);  // null without it
std::unique_ptr<ReferenceLibrary> make_cublas_fp16(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_clblast(Device& device, Queue& queue);
std::unique_ptr<ReferenceLibrary> make_openblas(std::size_t threads);

}  // namespace duogemm::bench
