// From a kernel of the shared dialect (compat/dialect.h) to a compute shader of WebGPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "families/kernel_source.h"

namespace duogemm::webgpu {

// The host calls it so: binding 0 of group 0 is a uniform buffer of the numbers, four bytes each, and the
// matrices are the bindings from 1 on.
struct Shader {
  struct Number {
    std::string name;        // of a struct's member "c_ld"
    bool real;               // f32, else i32
    std::size_t host_bytes;  // that it has in the host's struct
  };
  struct Buffer {
    std::string name;
    bool written;
  };

  std::string name;  // of the entry point
  std::string text;  // WGSL
  std::array<int, 3> work_items;
  std::size_t local_bytes;
  bool sub_groups;  // needs the device's feature "subgroups"
  std::vector<Number> numbers;
  std::vector<Buffer> buffers;
};

// `text` is a kernel's, complete (see kernel_text), and `tunables` may be some of its own.
//
// WGSL has no pointers into buffers, no unrolling and no vectors above 4. So functions are compiled into the
// kernel, a pointer becomes an object and an offset, loops with `#pragma unroll` are unrolled, arrays in
// registers become variables where indices are constants, and what is only read and written as float4 becomes
// an array of vec4f.
//
// Throws build_failed with file, line and the construct that it does not know; unsupported, with the reason
// that compat/ gives, for an operation that WebGPU lacks.
Shader translate(const std::string& text, const Tunables& tunables);

}  // namespace duogemm::webgpu
