#include "runtime/tensor_trial.h"

#include "families/tensor.h"
#include "plan/lower.h"
#include "runtime/known_product.h"
#include "system/log.h"

namespace duogemm {
namespace {

bool multiplies_exactly(const KernelSpec& spec, Device& device, ProgramCache& programs) {
  constexpr std::int64_t size = 128;
  Problem problem = Problem::packed(size, size, size);
  problem.precision = Precision::f16x3;
  const Schedule schedule = schedule_for({&spec}, problem, device.info());
  const SelfContainedPlan plan(lower(schedule, problem, device.info()), device, programs);
  return gives_known_product(size, device, [&](Queue& queue, const PreparedPlan::Operands& operands) {
    plan.enqueue(queue, operands);
  });
}

bool works(const KernelSpec& spec, Device& device, ProgramCache& programs) {
  if (device.info().backend != "opencl") {
    return true;
  }
  try {
    const bool exact = multiplies_exactly(spec, device, programs);
    log_line("kernel " + spec.name + (exact ? " works on " : " gives wrong results on ") +
             device.info().name);
    return exact;
  } catch (const Error& error) {
    log_line("no kernel " + spec.name + " on " + device.info().name + ": " + error.what());
    return false;
  }
}

}  // namespace

const KernelSpec* working_tensor_kernel(Device& device, ProgramCache& programs) {
  for (const KernelSpec* spec : tensor_kernels_for(device.info())) {
    if (works(*spec, device, programs)) {
      return spec;
    }
  }
  return nullptr;
}

}  // namespace duogemm
