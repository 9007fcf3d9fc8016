#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace duogemm {
namespace {

// Answers what a kernel is given for an argument of a step.
struct Resolve {
  const PreparedPlan::Operands& operands;
  const PreparedPlan::Workspaces& workspaces;
  const Scalars& scalars;
  std::span<std::byte> filled;  // for the struct

  Argument operator()(std::int32_t value) const { return value; }
  Argument operator()(float value) const { return value; }
  Argument operator()(Operand operand) const { return place_of(operand).buffer; }
  Argument operator()(ScalarOf scalar) const { return factor(scalar); }
  Argument operator()(const StructArgument& argument) const {
    std::memcpy(filled.data(), argument.values.data(), argument.values.size());
    for (const auto& [at, given] : argument.members) {
      std::byte* const member = filled.data() + at;
      if (const Operand* operand = std::get_if<Operand>(&given)) {
        std::int64_t offset;
        std::memcpy(&offset, member, sizeof offset);
        offset += place_of(*operand).offset;
        std::memcpy(member, &offset, sizeof offset);
      } else {
        const float value = factor(std::get<ScalarOf>(given));
        std::memcpy(member, &value, sizeof value);
      }
    }
    return std::span<const std::byte>(filled.data(), argument.values.size());
  }

  float factor(ScalarOf scalar) const { return scalar == ScalarOf::alpha ? scalars.alpha : scalars.beta; }

  const MatrixPlace& place_of(Operand operand) const {
    return operand.slot >= first_workspace
               ? workspaces.at(static_cast<std::size_t>(operand.slot - first_workspace))
               : operands[static_cast<std::size_t>(operand.slot)];
  }
};

}  // namespace

Problem placed(const Problem& problem, const PreparedPlan::Operands& operands) {
  Problem result = problem;
  result.a_aligned = operands[static_cast<std::size_t>(operand_a.slot)].aligned();
  result.b_aligned = operands[static_cast<std::size_t>(operand_b.slot)].aligned();
  result.c_aligned = operands[static_cast<std::size_t>(operand_c.slot)].aligned();
  return result;
}

PreparedPlan::PreparedPlan(Plan plan, Device& device, ProgramCache& programs)
    : multiply_(plan.multiply), layout_(lay_out_workspaces(plan, device.info())) {
  steps_.reserve(plan.steps.size());
  for (Step& step : plan.steps) {
    const KernelSpec& spec = *step.kernel->spec;
    std::shared_ptr<const Kernel> kernel = programs.get(*step.kernel);
    const int multiple = spec.sub_group_multiple(step.kernel->tunables);
    const std::size_t size = multiple == 1 ? 1 : kernel->sub_group_size(step.geometry.local);
    if (size % static_cast<std::size_t>(multiple) != 0) {
      throw Error(Status::unsupported, "a sub-group size that is a multiple of " + std::to_string(multiple) +
                                           "; the device has " + std::to_string(size));
    }
    steps_.push_back(
        {std::move(kernel), step.kernel->needs.starts_early, step.geometry, std::move(step.arguments)});
  }
}

PreparedPlan::Workspaces PreparedPlan::workspaces_in(const Buffer& memory, std::size_t begin) const {
  Workspaces workspaces;
  for (const WorkspaceLayout::Part& part : layout_.parts) {
    workspaces.push_back({&memory, static_cast<std::int64_t>((begin + part.begin) / sizeof(float))});
  }
  return workspaces;
}

void PreparedPlan::enqueue(Queue& queue, const Operands& operands, const Workspaces& workspaces,
                           const Scalars& scalars, std::size_t count) const {
  for (std::size_t i = 0; i < std::min(count, steps_.size()); ++i) {
    if (i > 0) {
      queue.barrier(steps_[i].awaits);
    }
    enqueue(steps_[i], queue, operands, workspaces, scalars);
  }
}

void PreparedPlan::enqueue_multiply(Queue& queue, const Operands& operands, const Workspaces& workspaces,
                                    const Scalars& scalars) const {
  enqueue(steps_[multiply_], queue, operands, workspaces, scalars);
}

void PreparedPlan::enqueue(const PreparedStep& step, Queue& queue, const Operands& operands,
                           const Workspaces& workspaces, const Scalars& scalars) {
  constexpr std::size_t most_arguments = 16;
  std::array<Argument, most_arguments> arguments;
  alignas(std::int64_t) std::array<std::byte, most_struct_bytes> filled;
  std::size_t count = 0;
  for (const StepArgument& argument : step.arguments) {
    arguments.at(count++) = std::visit(Resolve{operands, workspaces, scalars, filled}, argument);
  }
  queue.launch(*step.kernel, step.geometry, {arguments.data(), count});
}

SelfContainedPlan::SelfContainedPlan(const Plan& plan, Device& device, ProgramCache& programs)
    : plan_(plan, device, programs), scalars_(plan.scalars) {
  for (const std::size_t bytes : plan.workspace_bytes) {
    memory_.push_back(device.allocate(bytes));
    workspaces_.push_back({memory_.back().get()});
  }
}

BlankOperands::BlankOperands(const Problem& problem, Device& device) {
  const auto matrix = [&](std::int64_t elements) {
    return device.allocate(sizeof(float) * static_cast<std::size_t>(elements));
  };
  a_ = matrix(problem.a_extent());
  b_ = matrix(problem.b_extent());
  c_ = matrix(problem.c_extent());
}

}  // namespace duogemm
