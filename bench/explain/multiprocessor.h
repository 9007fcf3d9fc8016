// Tells what an NVIDIA multiprocessor has, and how many work-groups fit on one (CUDA C++ Programming Guide,
// "Compute Capabilities"; CUDA Occupancy Calculator).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace duogemm::bench {

struct Multiprocessor {
  int capability;                   // 90 for 9.0
  std::size_t work_items;           // resident at once
  std::size_t groups;               // likewise
  std::size_t registers;            // in its register file, of 32 bits
  std::size_t local_bytes;          // at most, for all work-groups
  std::size_t reserved;             // bytes of local memory that the system takes of each work-group
  double multiply_adds;             // per clock
  double issued;                    // instructions of work-items per clock
  double tensor_multiply_adds = 0;  // of BF16 into FP32 per clock, on tensor cores; 0 when not known
};

// Answers that of the capability, or of the newest before it of the same generation, or null.
const Multiprocessor* multiprocessor_of(int capability);

struct Occupancy {
  std::size_t groups = 0;      // resident at once
  std::size_t warps = 0;       // likewise; 32 work-items each
  std::size_t most_warps = 0;  // that a multiprocessor can have
  std::string limit;           // what allows no more of them: "registers"
};

// `registers` is what each work-item has. Empty when not even one work-group fits.
std::optional<Occupancy> occupancy(const Multiprocessor& of, std::size_t work_items, std::size_t registers,
                                   std::size_t local_bytes);

}  // namespace duogemm::bench
