// This tells what a device can do, how many work-groups fit on an NVIDIA multiprocessor, and what bounds on
// the speed of a kernel follow from that and from its main loop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/listing.h"
#include "ladder/ladder.h"
#include "timing/device_speed.h"

namespace duogemm::bench {

// As the CUDA C++ Programming Guide, "Compute Capabilities", and the CUDA Occupancy Calculator have it.
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

// One level of memory and how much is computed for each byte that comes from it.
struct Level {
  std::string name;
  double flops_per_byte;
  double bytes_per_second;  // measured; 0 when it was not
};

struct Bound {
  std::string name;  // what binds: "instructions"
  double flops;      // per second
};

struct Roofline {
  std::vector<Level> levels;  // the nearest to the work-items first
  std::vector<Bound> bounds;  // the lowest first; empty when nothing was measured

  const Bound* binding() const { return bounds.empty() ? nullptr : &bounds.front(); }
};

// The device was measured to do this.
struct Abilities {
  double peak = 0.0;  // multiply-adds in registers, in FLOP/s; 0 when it was not measured
  Bandwidth bandwidth;
  const Multiprocessor* multiprocessor = nullptr;  // of an NVIDIA device
  std::size_t vector_floats = 0;                   // of a CPU
};

// tile: of a work-group. products: of BF16, how many stand for one of FP32 on tensor cores; 0 elsewhere.
Roofline roofline(const Mix& mix, const Shape& problem, const Multiples& tile, const Abilities& abilities,
                  int products = 0);

}  // namespace duogemm::bench
