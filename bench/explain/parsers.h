// Reads compiled kernels as text. Each answers the instructions of one kernel, none when the text does not
// have it. What a parser does not know counts as arithmetic.
#pragma once

#include <string>

#include "explain/instructions.h"

namespace duogemm::bench {

// PTX, NVIDIA's portable assembly, as nvcc, NVRTC and NVIDIA's OpenCL write it. entry: the kernel.
Listing parse_ptx(const std::string& text, const std::string& entry);

// What a GPU executes, as `cuobjdump -sass` and `nvdisasm` write it.
Listing parse_sass(const std::string& text, const std::string& entry);

// x86-64 as `objdump -d --no-show-raw-insn` writes it. function: the symbol.
Listing parse_x86(const std::string& text, const std::string& function);

}  // namespace duogemm::bench
