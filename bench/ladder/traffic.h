// Counts what is computed for each byte that is moved.
#pragma once

#include "ladder/ladder.h"

namespace duogemm::bench {

// The tile that a work-group of the plan's multiplication computes; in K what it has of both operands at
// once, 1 where that is all that it has.
Multiples tile_of(const Plan& plan, const Shape& problem);

// FLOP for each byte that a work-group, which reads each row and column of its tile once, gets from beyond
// it.
double flops_per_byte(const Multiples& tile);

// Bytes of A, B and C.
double bytes_of(const Shape& problem);

// FLOP for each byte of A, B and C, each of which must pass once.
double flops_per_byte(const Shape& problem);

}  // namespace duogemm::bench
