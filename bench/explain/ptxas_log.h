// What NVIDIA's assembler says of a kernel when it is asked to be verbose.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace duogemm::bench {

struct PtxasLog {
  std::optional<std::size_t> registers;    // of a work-item
  std::optional<std::size_t> stack_bytes;  // of a work-item
  std::optional<std::size_t> spilled;      // bytes that are stored because there were too few registers
};

// Reads the log of NVRTC's --ptxas-options=-v or of NVIDIA's OpenCL with -cl-nv-verbose. Where it speaks of
// several kernels, the last one counts.
PtxasLog parse_ptxas_log(const std::string& log);

}  // namespace duogemm::bench
