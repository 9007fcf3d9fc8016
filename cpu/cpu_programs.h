// Kernels for CPUs that the host's own compiler has compiled with the library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/device_info.h"

namespace duogemm {

// What a BuiltProgram's entry is here: it computes work-groups `first` to `end` - 1 on the calling thread. It
// is given, for each of the kernel's parameters, the buffer's address or where the number or struct stands,
// and how many work-groups there are in two dimensions.
using CpuEntry = void(const void* const* arguments, const std::size_t* groups, std::size_t first,
                      std::size_t end);

// Those that were compiled for the same instructions.
struct CpuPrograms {
  const char* instructions;  // "AVX-512"
  std::size_t vector_floats;
  const std::vector<BuiltProgram>& (*programs)();
  std::vector<std::string> options;  // that tell a compiler of these instructions
};

// All that this processor can run, the widest vectors first. The last needs nothing that a processor might
// lack, but of a build for one processor alone (DUOGEMM_NATIVE), which has none for others. Defined by the
// build.
std::span<const CpuPrograms> cpu_programs();

}  // namespace duogemm
