// Reads what compilers write as text. Of compiled kernels each parser answers the instructions of one, none
// when the text does not have it. What a parser does not know counts as arithmetic.
#pragma once

#include <string>

#include "explain/instructions.h"

namespace duogemm::bench {

// PTX, NVIDIA's portable assembly, as nvcc, NVRTC and NVIDIA's OpenCL write it. entry: the kernel.
Listing parse_ptx(const std::string& text, const std::string& entry);

// SASS is what a GPU executes; `cuobjdump -sass` and `nvdisasm` write it.
Listing parse_sass(const std::string& text, const std::string& entry);

// x86-64 as `objdump -d --no-show-raw-insn` writes it. function: the symbol.
Listing parse_x86(const std::string& text, const std::string& function);

// NVIDIA's assembler says this of a kernel when it is asked to be verbose.
struct PtxasLog {
  std::optional<std::size_t> registers;    // of a work-item
  std::optional<std::size_t> stack_bytes;  // of a work-item
  std::optional<std::size_t> spilled;      // bytes that are stored because there were too few registers
};

// Reads the log of NVRTC's --ptxas-options=-v or of NVIDIA's OpenCL with -cl-nv-verbose. Where it is about
// several kernels, the last one counts.
PtxasLog parse_ptxas_log(const std::string& log);

}  // namespace duogemm::bench
