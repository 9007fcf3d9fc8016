// Operands in host memory whose elements have 16 bits.
#pragma once

#include <functional>

#include "host_memory/host_call.h"

namespace duogemm {

// Calls `multiply` with copies in FP32 of the operands that have elements of 16 bits, and rounds the result
// into C. Other operands are the caller's own. Throws out_of_memory where there is none for copies, with C
// untouched.
void in_fp32(const Problem& problem, const HostOperands& operands,
             const std::function<void(const Problem&, const HostOperands&)>& multiply);

}  // namespace duogemm
