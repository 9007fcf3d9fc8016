#include "executor.h"

#include "kernel_source.h"

namespace duogemm {
namespace {

bool is_standard(const std::vector<TunableDeclaration>& declared, const Tunables& tunables) {
  for (const TunableDeclaration& tunable : declared) {
    if (tunables.at(tunable.name) != tunable.standard) {
      return false;
    }
  }
  return true;
}

// compat/ ends an operation that a target lacks in: #error "unsupported: <reason>".
std::string lacking_operation(const std::string& log) {
  static const std::string marker = "unsupported: ";
  const std::size_t start = log.find(marker);
  if (start == std::string::npos) {
    return {};
  }
  const std::size_t reason = start + marker.size();
  return log.substr(reason, log.find_first_of("\"\n", reason) - reason);
}

std::shared_ptr<const Kernel> compile(Device& device, const KernelSpec& spec, const Tunables& tunables) {
  const KernelSource source = load_kernel(spec.path);
  const ProgramSource program{spec.name, source.text, Defines(tunables.begin(), tunables.end()),
                              source.embedded && is_standard(source.tunables, tunables)};
  try {
    return device.compile(program);
  } catch (const Error& error) {
    const std::string reason = lacking_operation(error.what());
    if (error.status() == Status::build_failed && !reason.empty()) {
      throw Error(Status::unsupported, reason);
    }
    throw;
  }
}

}  // namespace

std::shared_ptr<const Kernel> ProgramCache::get(const KernelSpec& spec, const Tunables& tunables) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Kernel>& kernel = kernels_[spec.name + " " + to_text(tunables)];
  if (!kernel) {
    kernel = compile(device_, spec, tunables);
  }
  return kernel;
}

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
  for (const PreparedStep& step : steps_) {
    enqueue(step, queue, operands);
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
  const bool callers = operand.slot < first_workspace;
  return callers ? operands[static_cast<std::size_t>(operand.slot)].buffer
                 : workspace_[static_cast<std::size_t>(operand.slot - first_workspace)].get();
}

Argument PreparedPlan::resolve(OffsetOf offset, const Operands& operands) const {
  return operands[static_cast<std::size_t>(offset.operand.slot)].offset;
}

}  // namespace duogemm
