// Kernels for CPUs that the host's own compiler has compiled with the library.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace duogemm {

struct HostProgram {
  // Computes all work-groups on the calling thread: the kernel's pointers and numbers in the order of its
  // list (compat/numbers.h), and the work-groups in two dimensions.
  using Entry = void(const void* const* pointers, const void* numbers, const std::size_t* groups);

  std::string_view name;  // "cpu_dots COLS=4 ROWS_C=0 VECTORS=4 WIDTH=8"
  Entry* entry;
};

// Sorted by name. Empty where the build has none, or this processor does not have what they need. Defined by
// the build.
std::span<const HostProgram> host_programs();

}  // namespace duogemm
