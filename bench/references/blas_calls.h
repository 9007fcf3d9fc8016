// SGEMM by the symbols of BLAS, of libraries that are opened while the program runs.
#pragma once

#include <functional>
#include <string>

#include "references/reference.h"
#include "system/shared_library.h"

namespace duogemm::bench {

using BlasCall = std::function<void(const Problem& problem, const Operands& operands)>;

// Calls sgemm_ and, for a batch, sgemm_batch_strided_ where the library has that, both after the prefix.
// Empty where there is no sgemm_. A call throws unsupported where a number has more than 32 bits.
BlasCall sgemm_of(const SharedLibrary& library, const std::string& prefix = "");

}  // namespace duogemm::bench
