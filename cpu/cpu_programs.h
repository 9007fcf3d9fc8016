// Kernels for CPUs that the host's own compiler has compiled with the library.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/device_info.h"

namespace duogemm {

// What a BuiltProgram's entry is here: it computes work-groups `first` to `end` - 1, of `items` work-items,
// on the calling thread. It is given the kernel's pointers in the order of its parameters, its struct
// (kernels/gemm/arguments.h), and how many work-groups there are in two dimensions.
using CpuEntry = void(const void* const* pointers, const void* arguments, const std::size_t* groups,
                      std::size_t items, std::size_t first, std::size_t end);

// Those that were compiled for the same instructions.
struct CpuPrograms {
  const char* instructions;  // "AVX-512"
  std::size_t vector_floats;
  const std::vector<BuiltProgram>& (*programs)();
};

// All that this processor can run, the widest vectors first. The last needs nothing that a processor might
// lack. Defined by the build.
std::span<const CpuPrograms> cpu_programs();

}  // namespace duogemm
