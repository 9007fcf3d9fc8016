// The libraries that a build may have to compare with.
#pragma once

#include "reference.h"

namespace duogemm::bench {

std::unique_ptr<Reference> make_cublas_reference(Queue& queue, const Problem& problem,
                                                 const PreparedPlan::Operands& operands);
std::unique_ptr<Reference> make_openblas_reference(const HostProblem& host);

}  // namespace duogemm::bench
