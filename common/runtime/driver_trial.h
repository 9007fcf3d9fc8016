// Whether a driver of OpenCL can be trusted: some give wrong results and no error, as rusticl (Mesa 22.3.6).
#pragma once

#include <mutex>
#include <string>

#include "runtime/runtime.h"

namespace duogemm {

// Of one device in use. The first that asks has it compute a product whose result is known, which other
// processes need not do again: that it was right is kept on disk, for this version of the driver and of the
// library. Neither CUDA nor NVIDIA's OpenCL is tried, by which the library's results are recorded, and nor
// are kernels that are not the library's own.
class DriverTrial {
 public:
  // Throws unsupported, which names the driver, where the product was wrong. Any thread may call.
  void require_right(Runtime& runtime);

 private:
  std::once_flag once_;
  std::string refusal_;  // empty where it was right
};

}  // namespace duogemm
