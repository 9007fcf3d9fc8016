#include "executor.h"

namespace duogemm {

PreparedPlan::PreparedPlan(const Plan& plan, Device& device, ProgramCache& programs)
    : multiply_(plan.multiply) {
  for (const Step& step : plan.steps) {
    std::shared_ptr<const Kernel> kernel = programs.get(*step.spec, step.tunables);
    const std::size_t multiple = step.spec->sub_group_multiple(step.tunables);
    const std::size_t size = kernel->sub_group_size(step.geometry.local);
    if (size % multiple != 0) {
      throw Error(Status::unsupported, "a sub-group size that is a multiple of " + std::to_string(multiple) +
                                           "; the device has " + std::to_string(size));
    }
    steps_.push_back({std::move(kernel), step.geometry, step.arguments});
  }
  for (std::size_t bytes : plan.workspace_bytes) {
    workspace_.push_back(device.allocate(bytes));
  }
}

void PreparedPlan::enqueue(Queue& queue, const Operands& operands) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0) {
      queue.barrier();
    }
    enqueue(steps_[i], queue, operands);
  }
}

void PreparedPlan::enqueue_multiply(Queue& queue, const Operands& operands) const {
  enqueue(steps_[multiply_], queue, operands);
}

void PreparedPlan::enqueue(const PreparedStep& step, Queue& queue, const Operands& operands) const {
  constexpr std::size_t most_arguments = 24;
  std::array<Argument, most_arguments> arguments;
  std::size_t count = 0;
  for (const StepArgument& argument : step.arguments) {
    arguments.at(count++) = std::visit([&](const auto& value) { return resolve(value, operands); }, argument);
  }
  queue.launch(*step.kernel, step.geometry, {arguments.data(), count});
}

Argument PreparedPlan::resolve(Operand operand, const Operands& operands) const {
  if (operand.slot >= first_workspace) {
    return workspace_[static_cast<std::size_t>(operand.slot - first_workspace)].get();
  }
  const Buffer* buffer = operands[static_cast<std::size_t>(operand.slot)].buffer;
  return buffer != nullptr ? buffer : operands[static_cast<std::size_t>(operand_c.slot)].buffer;
}

Argument PreparedPlan::resolve(OffsetOf offset, const Operands& operands) const {
  return operands[static_cast<std::size_t>(offset.operand.slot)].offset;
}

}  // namespace duogemm
