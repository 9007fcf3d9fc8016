// Finds the loop in which a kernel spends its time.
#pragma once

#include "explain/instructions.h"

namespace duogemm::bench {

struct MainLoop {
  std::size_t first = 0;   // addresses of its first instruction and of the branch back
  std::size_t last = 0;    //
  double inner_trips = 1;  // how often the loop within it goes around for each of its iterations
  Mix mix;                 // of one iteration, the inner loops' included
};

// The innermost loop with the most multiply-adds; or, where that one loads nothing from global memory because
// another fetches its operands, the smallest loop around it that does. multiply_adds: what a work-item does
// of them for one tile in K, which tells how often the inner loop goes around; 0 where nobody knows. Empty
// when no loop multiplies.
std::optional<MainLoop> find_main_loop(const Listing& listing, double multiply_adds);

}  // namespace duogemm::bench
