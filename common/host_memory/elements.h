// Operands in host memory whose elements have 16 bits.
#pragma once

#include "host_memory/host_call.h"

namespace duogemm {

// HostCall::multiply() where operands have elements of 16 bits: `call` is given copies of those in FP32, and
// its result is rounded into C. Throws out_of_memory where there is none for copies, with C untouched.
void multiply_narrow(HostCall& call, const Problem& problem, const HostOperands& operands,
                     const ProgressListener& progress);

}  // namespace duogemm
