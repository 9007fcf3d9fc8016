// Kernels for CPUs that the host's own compiler has compiled with the library.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace duogemm {

struct CpuProgram {
  // Computes work-groups `first` to `end` - 1 on the calling thread: the kernel's pointers in the order of
  // its parameters, its struct (kernels/gemm/arguments.h), and how many work-groups there are in two
  // dimensions.
  using Entry = void(const void* const* pointers, const void* arguments, const std::size_t* groups,
                     std::size_t first, std::size_t end);

  std::string_view name;  // "cpu_dots COLS=4 ROWS_C=0 VECTORS=4 WIDTH=8"
  Entry* entry;
};

// Those that were compiled for the same instructions.
struct CpuPrograms {
  std::size_t vector_floats;
  std::span<const CpuProgram> programs;  // sorted by name
};

// All that this processor can run, the widest vectors first. Empty where the build has none. Defined by the
// build.
std::span<const CpuPrograms> cpu_programs();

}  // namespace duogemm
