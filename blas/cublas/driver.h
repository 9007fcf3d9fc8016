// What is asked of NVIDIA's driver, which is there when a handle of cuBLAS is.
#pragma once

#include <driver_types.h>

namespace duogemm::cublas {

bool is_capturing(cudaStream_t stream);

}  // namespace duogemm::cublas
