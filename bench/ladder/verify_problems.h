// The problems that show a kernel's mistakes.
#pragma once

#include <vector>

#include "check/inputs.h"
#include "ladder/ladder.h"

namespace duogemm::bench {

// One problem for each shape: what a rung of the ladder can be asked.
std::vector<Problem> ladder_problems(const std::vector<Shape>& shapes);

// For each shape, every transpose of a single multiplication and of batches by strides and by offsets, one
// with alpha and beta in device memory, and what is left of these when alpha or k is zero.
std::vector<Problem> library_problems(const std::vector<Shape>& shapes);

// With random data; the number chooses how they are distributed, so that over a list every way occurs.
HostProblem fill(const Problem& problem, std::size_t number);

std::string describe(const Problem& problem);

}  // namespace duogemm::bench
