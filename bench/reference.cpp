#include "reference.h"

#include "library_references.h"

namespace duogemm::bench {

std::unique_ptr<Reference> make_reference([[maybe_unused]] Device& device, [[maybe_unused]] Queue& queue,
                                          [[maybe_unused]] const HostProblem& host,
                                          [[maybe_unused]] const PreparedPlan::Operands& operands) {
#ifdef DUOGEMM_WITH_CUBLAS
  if (device.info().backend == "cuda") {
    return make_cublas_reference(queue, host.problem, operands);
  }
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
  if (device.info().kind == DeviceKind::cpu) {
    return make_openblas_reference(host);
  }
#endif
  return nullptr;
}

}  // namespace duogemm::bench
