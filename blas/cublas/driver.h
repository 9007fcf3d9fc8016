// What is asked of NVIDIA's driver, which is there when a handle of cuBLAS is.
#pragma once

#include <driver_types.h>

namespace duogemm::cublas {

bool is_capturing(cudaStream_t stream);

// While one lives, this thread may do what is not allowed within a capture unless it is told so, such as
// loading a kernel.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  int before_;
};

}  // namespace duogemm::cublas
