// Upper bounds on the speed of a kernel, from its main loop and from what the device can do.
#pragma once

#include <string>
#include <vector>

#include "explain/main_loop.h"
#include "explain/multiprocessor.h"
#include "ladder/ladder.h"
#include "timing/device_speed.h"

namespace duogemm::bench {

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
